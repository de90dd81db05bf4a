#!/usr/bin/env python3
"""Writes the programs that tests/io/torch_import_test.cpp reads: what torch.export (PyTorch 2.15) makes of small modules.

    python3 tests/io/torch_programs/make_programs.py         (pip install torch)

Of each there is the models/model.json of its archive, without stack traces; of one the whole archive.
"""
import json
import os
import zipfile

import torch
import torch.nn.functional as F
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))


class Convolutional(nn.Module):
    """A stem, two residual blocks of which one shrinks the image, a classifier: nothing that could not be run."""

    class Block(nn.Module):
        def __init__(self, channels, out, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(out)
            self.conv2 = nn.Conv2d(out, out, 3, 1, 1, groups=4, bias=False)
            self.bn2 = nn.BatchNorm2d(out)
            self.shortcut = nn.Conv2d(channels, out, 1, stride) if stride > 1 else nn.Identity()

        def forward(self, x):
            y = F.relu(self.bn1(self.conv1(x)))
            return F.relu(self.bn2(self.conv2(y)) + self.shortcut(x))

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 7, 2, 3), nn.BatchNorm2d(16), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        self.blocks = nn.Sequential(self.Block(16, 16, 1), self.Block(16, 16, 1), self.Block(16, 32, 2))
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(torch.flatten(F.adaptive_avg_pool2d(self.blocks(self.stem(x)), 1), 1))


class Transformer(nn.Module):
    """Tokens through three layers to the next token: attention in one kernel under a causal mask, tied embeddings, dropout."""

    class Layer(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

        def forward(self, x):
            samples, tokens, width = x.shape
            qkv = self.qkv(self.norm1(x)).view(samples, tokens, 3, self.heads, width // self.heads)
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(samples, tokens, width))
            return x + self.mlp(self.norm2(x))

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(100, 32), nn.Embedding(16, 32)
        self.layers = nn.ModuleList(self.Layer(32, 4) for _ in range(3))
        self.norm = nn.LayerNorm(32)
        self.output = nn.Linear(32, 100, bias=False)
        self.output.weight = self.tokens.weight

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.output(self.norm(x))


class WrittenOut(nn.Module):
    """Attention as products and a softmax, under a mask that compares positions; an RMS norm and a gate in passes; one frozen matrix."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(32))
        self.q, self.kv = nn.Linear(32, 32, bias=False), nn.Linear(32, 64, bias=False)
        self.gate_up, self.down = nn.Linear(32, 96), nn.Linear(48, 32)
        self.score_bias = nn.Parameter(torch.zeros(4, 8, 8))
        self.q.weight.requires_grad_(False)

    def forward(self, x):
        samples, tokens, width = x.shape
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.gain
        q = self.q(y).view(samples, tokens, 4, 8).transpose(1, 2)
        k, v = self.kv(y).view(samples, tokens, 8, 8).transpose(1, 2).split(4, dim=1)
        seen = torch.arange(tokens)[None, :] <= torch.arange(tokens)[:, None]
        scores = q @ k.transpose(2, 3) * 8**-0.5 + self.score_bias + torch.where(seen, 0.0, -1e9)
        x = x + (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        a, b = self.gate_up(x).chunk(2, dim=-1)
        return (x + self.down(F.silu(a) * b)).mean(1)


class EncoderDecoder(nn.Module):
    """What an encoder makes is read by each layer of a decoder."""

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.of_own, self.of_other = nn.Linear(16, 16), nn.Linear(16, 16)

        def forward(self, x, other):
            return x + torch.tanh(self.of_own(x)) * self.of_other(other).mean(1, keepdim=True)

    def __init__(self):
        super().__init__()
        self.source, self.target = nn.Embedding(50, 16), nn.Embedding(50, 16)
        self.encoder = nn.ModuleList(nn.Sequential(nn.Linear(16, 16), nn.Tanh()) for _ in range(2))
        self.decoder = nn.ModuleList(self.Layer() for _ in range(3))
        self.output = nn.Linear(16, 50)

    def forward(self, source, target):
        x, y = self.source(source), self.target(target)
        for layer in self.encoder:
            x = layer(x)
        for layer in self.decoder:
            y = layer(y, x)
        return self.output(y)


class Several(nn.Module):
    """Calls of many kinds, one behind the other."""

    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(8, 4, 2, 2)
        self.norm = nn.GroupNorm(2, 8)
        self.rows = nn.Conv1d(4, 4, 3, padding=1)

    def forward(self, x):
        x = F.hardswish(self.norm(x))
        x = torch.cat([x, torch.roll(x, 1, 2)], 1)[:, :8]
        x = F.interpolate(self.up(x), scale_factor=0.5, mode="bilinear")
        x = torch.einsum("nchw,ndhw->ncd", x, F.avg_pool2d(F.pad(x, (1, 1, 1, 1)), 3, 1))
        return torch.log_softmax(self.rows(x), -1).exp().sum((1, 2))


class Unknown(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 4)

    def forward(self, x):
        return torch.fft.rfft(self.lstm(x)[0]).abs() + torch.fft.rfft(x).abs()


def write(name, module, *inputs):
    archive = os.path.join(HERE, name + ".pt2")
    torch.export.save(torch.export.export(module.eval(), inputs), archive)
    with zipfile.ZipFile(archive) as z:
        member = next(n for n in z.namelist() if n.endswith("models/model.json"))
        program = json.loads(z.read(member))
    for node in program["graph_module"]["graph"]["nodes"]:
        node["metadata"] = {k: v for k, v in node["metadata"].items() if k == "nn_module_stack"}
    with open(os.path.join(HERE, name + ".json"), "w") as out:
        json.dump(program, out, separators=(",", ":"))
        out.write("\n")
    if name != "archive":
        os.remove(archive)


torch.manual_seed(0)
write("convolutional", Convolutional(), torch.randn(2, 3, 32, 32))
write("transformer", Transformer(), torch.randint(0, 100, (2, 16)))
write("written_out", WrittenOut(), torch.randn(2, 8, 32))
write("encoder_decoder", EncoderDecoder(), torch.randint(0, 50, (2, 7)), torch.randint(0, 50, (2, 5)))
write("encoder_decoder_of_three", EncoderDecoder(), torch.randint(0, 50, (3, 7)), torch.randint(0, 50, (3, 5)))
write("several", Several(), torch.randn(2, 8, 6, 6))
write("unknown", Unknown(), torch.randn(3, 2, 4))
write("archive", nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2)), torch.randn(2, 8))
os.remove(os.path.join(HERE, "archive.json"))
