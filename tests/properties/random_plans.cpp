#include "tests/properties/random_plans.hpp"

#include "model/plan/partition.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/properties/draw.hpp"

namespace sextant {
namespace {

constexpr auto networks = {"resnet50", "vgg16", "inception3"};
constexpr auto transformers = {"gpt2-medium", "gpt3-1.3b",  "gpt3-6.7b", "bert-large",   "llama-2-7b",      "llama-2-13b",
                               "llama-2-70b", "qwen2.5-7b", "vit-l16",   "mixtral-8x7b", "deepseek-v2-lite"};
constexpr auto clusters = {"dgx-a100",    "dgx-h100", "dgx1-v100", "aws-p4d",        "lisa-1080ti", "snellius-gcn",
                           "pcie-8xa100", "summit",   "lumi-g",    "coreweave-h100", "leonardo",    "gb200-nvl72"};
constexpr auto frameworks = {
    "pytorch-ddp",      "pytorch-compile", "pytorch-fsdp", "deepspeed-zero1", "deepspeed-zero2", "deepspeed",
    "megatron-lm-2021", "megatron-core",   "nemo",         "horovod-pytorch", "horovod-tf1",     "tensorflow-2-xla",
    "mxnet-mlperf",     "internevo"};

std::vector<std::string> draw_plan(Draw& draw) {
    const bool transformer = !draw.one_in(5);
    const std::string model = transformer ? draw.of(transformers) : draw.of(networks);
    const int tp = transformer ? draw.of({1, 1, 2, 4, 8}) : 1, cp = transformer && draw.one_in(8) ? 2 : 1;
    const int pp = draw.of({1, 1, 1, 2, 4, 8}), dp = draw.of({1, 2, 4, 8, 16}), micro_batch = draw.of({1, 2, 4, 16});
    std::string schedule =
        pp == 1 ? "1f1b" : draw.of({"1f1b", "1f1b", "gpipe", "interleaved", "zero_bubble", "zero_bubble_v", "dual_pipe_v", "sequential"});
    int m = schedule == "sequential" ? 1 : draw.of({1, 2, 4, 8, 16, 32});
    if (schedule == "interleaved") m *= pp;
    if (m > 32) m = 32;
    const int vpp = schedule == "interleaved" ? draw.of({2, 3, 4}) : schedule == "zero_bubble_v" || schedule == "dual_pipe_v" ? 2 : 1;
    const bool experts = model == "mixtral-8x7b" || model == "deepseek-v2-lite";
    const auto field = [](const std::string& name, const auto& value) {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
            return "plan." + name + "=" + std::to_string(value);
        else
            return "plan." + name + "=\"" + value + "\"";
    };
    std::vector<std::string> set{"workload=\"" + model + "\"",
                                 std::string("framework=\"") + draw.of(frameworks) + "\"",
                                 std::string("hardware.cluster=\"") + draw.of(clusters) + "\"",
                                 field("tp", tp),
                                 field("cp", cp),
                                 field("pp", pp),
                                 field("vpp", vpp),
                                 field("dp", dp),
                                 field("ep", experts ? draw.of({1, 2, 4}) : 1),
                                 field("micro_batch", micro_batch),
                                 field("global_batch", micro_batch * dp * m),
                                 field("schedule", schedule),
                                 field("data_parallel", draw.of({"all_reduce", "all_reduce", "zero1", "zero2", "zero3"})),
                                 field("recompute", transformer ? draw.of({"none", "selective", "full"}) : "none"),
                                 field("precision", draw.of({"bf16", "fp16", "fp32"}))};
    if (tp > 1 && draw.one_in(2)) set.push_back("plan.sequence_parallel=true");
    if (draw.one_in(4)) set.push_back(std::string("plan.reduce_every_micro_batch=") + (draw.one_in(2) ? "true" : "false"));
    if (draw.one_in(16)) set.push_back("plan.forward_only=true");
    if (draw.one_in(8)) set.push_back(std::string("plan.pipeline_overlap=") + (draw.one_in(2) ? "true" : "false"));
    if (draw.one_in(16))
        set.push_back(std::string("plan.offload_activations=") + draw.of({R"("all")", R"("residuals")", R"({"layers": 4})"}));
    return set;
}

}  // namespace

std::vector<RandomPlan> random_plans(std::uint64_t seed, int how_many) {
    Draw draw(seed);
    std::vector<RandomPlan> plans;
    while (static_cast<int>(plans.size()) < how_many) {
        std::vector<std::string> overrides = draw_plan(draw);
        try {
            Scenario scenario = bundled_scenario("mixtral-8x7b-128xh100", overrides);
            if (!check_plan(scenario).empty()) continue;
            cut_network(scenario);
            plans.push_back({std::move(overrides), std::move(scenario)});
        } catch (const InputError&) {  // shapes that do not divide
        }
    }
    return plans;
}

}  // namespace sextant
