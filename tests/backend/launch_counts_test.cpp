// What the cost model says that our kernels on accelerators are, held against what a device is asked to launch: block by block, of networks
// of each kind.
#include "backend/exec/block_program.hpp"
#include "backend/kernels/kernel_device.hpp"
#include "model/cost/kernel.hpp"
#include "model/plan/partition.hpp"
#include "model/sextant.hpp"
#include "tests/backend/single_rank.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

namespace sextant {
namespace {

// Computes nothing, and counts. In 16 bits it has attention as one operation, as cuDNN does, which takes three kernels to go back.
class CountingMachine {
public:
    [[nodiscard]] int take() { return std::exchange(launches_, 0); }

    MemoryPool& memory() { return memory_; }
    [[nodiscard]] const MemoryPool& memory() const { return memory_; }
    Array scratch(std::int64_t count, Element element = Element::real) { return {memory_.take(count * bytes_of(element)), count, element}; }
    void upload(const void*, void*, std::int64_t) {}
    void download(const void*, void*, std::int64_t) {}
    void copy(const void*, void*, std::int64_t) { ++launches_; }
    void clear(void*, std::int64_t) { ++launches_; }
    void elements(std::int64_t, const auto&) { ++launches_; }
    void matrix(std::int64_t, std::int64_t, const auto&) { ++launches_; }
    void totals(std::int64_t, std::int64_t, std::int64_t, std::int64_t, const auto&, void*) { ++launches_; }
    void rows(std::int64_t, std::int64_t, const auto&) { ++launches_; }
    void multiply(const kernels::Product&) { ++launches_; }
    void convolve(const kernels::ConvolutionShape&, const void*, const void*, void*) { ++launches_; }
    void convolve_back(const kernels::ConvolutionShape&, const void*, const void*, void*) { ++launches_; }
    void filter_gradient(const kernels::ConvolutionShape&, const void*, const void*, void*) { ++launches_; }
    bool attend(const kernels::AttentionPart&, const OperatorCall& c) { return is_half(c.inputs[0].element) && ++launches_ > 0; }
    bool attend_back(const kernels::AttentionPart&, const OperatorCall& c, const Array&, const Array&) {
        return is_half(c.inputs[0].element) && (launches_ += 3) > 0;
    }
    void begin_step() {}
    static Mark mark() { return {}; }
    static bool reached(const Mark&) { return true; }
    static Seconds time_of(const Mark&) { return {}; }
    void finish() {}
    void enter(const std::function<std::string()>&) {}
    void leave() {}

private:
    MemoryPool memory_{host_memory()};
    int launches_ = 0;
};

struct Counts {
    int forward = 0, backward = 0;
};

Counts launched(const Block& block, bool first, const Plan& plan) {
    const Element element = element_of(plan.precision.activation);
    kernels::KernelDevice<CountingMachine> counting;
    ComputeDevice& device = counting;
    SingleRank alone;
    const BlockProgram program(block.graph, block.graph, plan,
                               {.block = first ? 0 : 1, .samples = plan.micro_batch, .input_gradients = !first, .element = element});
    const std::int64_t parameters = program.elements(RunKind::own);
    const BlockContext context{device, alone, {device.allocate(parameters, element)}, {device.allocate(parameters, Element::real)}, {}};
    const auto arrays = [&](std::span<const TensorId> ids) {
        std::vector<Array> made;
        for (const TensorId id : ids) {
            const Tensor& t = program.graph().tensor(id);
            made.push_back(device.allocate(static_cast<std::int64_t>(t.elements()), element_of(t.role, element)));
        }
        return made;
    };
    BlockProgram::Kept kept;
    Counts counts;
    program.forward(context, arrays(program.graph().inputs()), &kept);
    counts.forward = counting.machine().take();
    program.backward(context, std::move(kept), arrays(program.graph().outputs()));
    counts.backward = counting.machine().take();
    return counts;
}

int launches(const std::vector<Kernel>& kernels) {
    int sum = 0;
    for (const Kernel& k : kernels) sum += k.launches;
    return sum;
}

struct NamedNetwork {
    const char *name, *workload;
    friend void PrintTo(const NamedNetwork& n, std::ostream* out) { *out << n.name; }
};

class LaunchCounts : public testing::TestWithParam<std::tuple<NamedNetwork, const char*>> {};

TEST_P(LaunchCounts, OfTheModelAreThoseOfOurKernels) {
    const auto& [network, precision] = GetParam();
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("sextant-launch-counts-" + std::to_string(::getpid()) + ".json");
    std::ofstream(file)
        << R"({"schema": "scenario/1", "name": "counted", "workload": )" << network.workload
        << R"(, "framework": "sextant-cuda", "hardware": {"cluster": "dgx-h200", "nodes": 1}, "plan": {"dp": 1, "micro_batch": 80, "precision": ")"
        << precision << R"("}})";
    Library library = open_library();
    const Scenario s = load_scenario(library, file);
    std::filesystem::remove(file);
    const Network cut = cut_network(s);
    Counts of_model, of_device;
    for (int t = 0; t < std::ssize(cut.templates); ++t) {
        const Block& block = cut.templates[static_cast<std::size_t>(t)];
        const bool first = t == cut.sequence.front();
        const BlockKernels kernels = block_kernels(block.graph, block.role, s.plan, s.framework, first, ComputeUnit::tensor);
        const Counts counted = launched(block, first, s.plan);
        of_model.forward += launches(kernels.forward), of_model.backward += launches(kernels.backward);
        of_device.forward += counted.forward, of_device.backward += counted.backward;
    }
    // Sums that fit one part lack a kernel or two; the loss begins with a kernel that the model has not.
    EXPECT_NEAR(of_model.forward, of_device.forward, 0.05 * of_device.forward);
    EXPECT_NEAR(of_model.backward, of_device.backward, 0.1 * of_device.backward);
}

constexpr NamedNetwork networks[] = {
    {"perceptron", R"({"mlp": {"widths": [64, 512, 512, 512, 10]}})"},
    {"convolutions",
     R"({"chain": {"input_shape": [3, 32, 32], "classes": 10, "layers": [{"conv": {"width": 64, "kernel": 3}}, {"norm": "batch"}, {"activation": "relu"}, {"pool": {"kind": "max", "kernel": 2, "stride": 2}}, {"conv": {"width": 64, "kernel": 1}}, {"activation": "gelu"}, {"pool": "global_average"}]}})"},
    {"resnet", R"({"model": "resnet18"})"},
    {"gpt", R"({"transformer": {"layers": 2, "hidden": 256, "heads": 4, "vocab": 2048, "seq_len": 128}})"},
    {"llama",
     R"({"transformer": {"layers": 2, "hidden": 256, "heads": 4, "kv_heads": 2, "vocab": 2048, "seq_len": 128, "norm": "rms", "mlp": "swiglu", "ffn_hidden": 512, "position": "rotary", "bias": false, "dropout": false}})"}};

INSTANTIATE_TEST_SUITE_P(Networks, LaunchCounts, testing::Combine(testing::ValuesIn(networks), testing::Values("bf16", "tf32")),
                         [](const auto& trial) { return std::string(std::get<0>(trial.param).name) + "_" + std::get<1>(trial.param); });

}  // namespace
}  // namespace sextant
