"""Steps of PyTorch (eager) of a model, batch and precision as bench/gpu_table has them: what our own executor is held against. In 16 bits it casts
for each use (autocast), and scales the loss of fp16."""
import statistics
import time

import torch
from torch import nn

phases = ("forward", "backward", "optimizer")


class Layer(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, x):
        b, s, h = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, s, 3, self.heads, h // self.heads).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, s, h))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, layers, hidden, heads, vocab, seq_len, **_):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocab, hidden), nn.Embedding(seq_len, hidden)
        self.layers = nn.Sequential(*[Layer(hidden, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(hidden), nn.Linear(hidden, vocab, bias=False)

    def forward(self, tokens):
        at = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.norm(self.layers(self.words(tokens) + self.positions(at)))).flatten(0, 1)


def perceptron(widths):
    parts = [part for a, b in zip(widths, widths[1:]) for part in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*parts[:-1])


def chain(input_shape, layers, classes):
    parts, channels = [], input_shape[0]
    for layer in layers:
        if "conv" in layer:
            c = layer["conv"]
            parts.append(nn.Conv2d(channels, c["width"], c["kernel"], c.get("stride", 1), c["kernel"] // 2, bias=False))
            channels = c["width"]
        elif "norm" in layer:
            parts.append(nn.BatchNorm2d(channels))
        else:
            parts.append(nn.ReLU() if "activation" in layer else nn.AdaptiveAvgPool2d(1))
    return nn.Sequential(*parts, nn.Flatten(), nn.Linear(channels, classes))


def peer(workload, batch, device):
    """The model, its input, its labels. `workload`: as a scenario has it."""
    if "transformer" in workload:
        spec = workload["transformer"]
        tokens = torch.randint(0, spec["vocab"], (batch, spec["seq_len"]), device=device)
        return Gpt(**spec), tokens, tokens.flatten()
    if "mlp" in workload:
        widths = workload["mlp"]["widths"]
        return perceptron(widths), torch.randn(batch, widths[0], device=device), torch.randint(0, widths[-1], (batch,), device=device)
    if workload == "resnet50":
        import torchvision
        model, shape, classes = torchvision.models.resnet50(), (3, 224, 224), 1000
    else:
        spec = workload["chain"]
        model, shape, classes = chain(**spec), spec["input_shape"], spec["classes"]
    images = torch.randn(batch, *shape, device=device).to(memory_format=torch.channels_last)
    return model.to(memory_format=torch.channels_last), images, torch.randint(0, classes, (batch,), device=device)


def step_of(workload, batch, precision, steps, device="cuda"):
    """Median seconds of a step and of its phases, the first step apart. A phase begins when the device has done the one before."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    with torch.device(device):  # weights are drawn there
        model, data, labels = peer(workload, batch, device)
    half = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision)
    scaler = torch.amp.GradScaler(device, enabled=precision == "fp16")
    optimizer = torch.optim.Adam(model.parameters())

    def now():
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    def step(at):
        """`at`: called between phases."""
        optimizer.zero_grad()
        with torch.autocast(device, dtype=half, enabled=half is not None):
            loss = nn.functional.cross_entropy(model(data), labels)
        at()
        scaler.scale(loss).backward()
        at()
        scaler.step(optimizer)
        scaler.update()

    whole, parts = [], []
    for _ in range(steps):
        begin = now()
        step(lambda: None)
        whole.append(now() - begin)
    for _ in range(steps):
        times = [now()]
        step(lambda: times.append(now()))
        times.append(now())
        parts.append([b - a for a, b in zip(times, times[1:])])
    del model, optimizer
    if device == "cuda":
        torch.cuda.empty_cache()
    return statistics.median(whole[1:]), dict(zip(phases, (statistics.median(p[i] for p in parts[1:]) for i in range(3))))
