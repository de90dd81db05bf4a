// A network that is cut over the ranks of a tensor group computes what the serial one does: losses to 1e-5, each rank's part of the
// gradients to 1e-4 of the serial gradient's largest element (or 1e-4, where that is smaller than one).
#include "backend/cpu/cpu_device.hpp"
#include "tests/backend/arrays.hpp"
#include "tests/backend/networks.hpp"
#include "tests/backend/single_rank.hpp"
#include "tests/backend/thread_group.hpp"

#include <gtest/gtest.h>

#include <mutex>

namespace sextant {
namespace {

void PrintTo(const struct Job&, std::ostream*);

struct Job {
    std::string name;  // of the test
    Workload workload;
    Shard shard{};
};

void PrintTo(const Job& j, std::ostream* out) { *out << j.name; }

// What the serial network finds: the loss, and the gradients in the order of for_each_parameter.
struct Found {
    double loss = 0;
    std::vector<std::vector<float>> gradients;
};

std::vector<std::vector<float>> gradients_of(ComputeDevice& device, const WholeNetwork& network) {
    std::vector<std::vector<float>> all;
    network.for_each_parameter(
        [&](std::size_t, const ParameterTensor&, const Array&, const Array& g) { all.push_back(from_device(device, g)); });
    return all;
}

constexpr StepPosition position{.seed = 11, .step = 3, .first_sample = 5};

Found serial_run(const Job& job) {
    CpuDevice device;
    SingleRank alone;
    Shard shard = job.shard;
    shard.tensor = 1;
    shard.sequence_parallel = false;
    WholeNetwork net(device, alone, job.workload, {.shard = shard});
    net.draw_weights(7);
    net.clear_gradients();
    Found found;
    found.loss = net.forward_and_backward(made_data(device, job.workload.name), position);
    found.gradients = gradients_of(device, net);
    return found;
}

void expect_same(const Job& job, bool recomputed) {
    const Found serial = serial_run(job);
    std::mutex mutex;  // of gtest's report
    ThreadGroup group(job.shard.tensor);
    group.run([&](int rank, RankCommunicator& communicator) {
        CpuDevice device;
        WholeNetwork net(device, communicator, job.workload,
                         {.shard = job.shard, .cut = {rank, job.shard.tensor}, .recomputed = recomputed});
        net.draw_weights(7);
        net.clear_gradients();
        const double loss = net.forward_and_backward(made_data(device, job.workload.name), position);
        const std::lock_guard lock(mutex);
        EXPECT_NEAR(loss, serial.loss, 1e-5);
        std::size_t index = 0;
        net.for_each_parameter([&](std::size_t block, const ParameterTensor& p, const Array&, const Array& g) {
            std::vector<float> mine(p.elements());
            cut(p, serial.gradients.at(index++), mine);
            EXPECT_LT(relative_error(from_device(device, g), mine), 1e-4) << "rank " << rank << ", block " << block << ", " << p.name;
        });
        EXPECT_EQ(index, serial.gradients.size());
    });
}

Job job(const std::string& name, int tensor, bool sequence_parallel = false, bool flash = true) {
    SmallNetwork small = small_network(name);
    if (auto* t = std::get_if<TransformerSpec>(&small.workload.spec)) t->dropout = true;
    std::string title =
        name + "_over_" + std::to_string(tensor) + (sequence_parallel ? "_by_sequence" : "") + (flash ? "" : "_written_out");
    return {.name = std::move(title),
            .workload = small.workload,
            .shard = {.micro_batch = 4, .tensor = tensor, .sequence_parallel = sequence_parallel, .flash_attention = flash}};
}

Job with_shared_heads() {
    Job j = job("llama", 4);  // two key-value heads: each is on two ranks
    j.name += "_sharing_heads";
    return j;
}

Workload convolutions() {
    using Layer = ChainLayer;
    using enum ChainLayer::Kind;
    ChainSpec chain{.input_shape = {4, 8, 8}, .layers = {}, .classes = 10};
    for (const Layer& l :
         {Layer{.kind = conv, .width = 8, .kernel = 3}, Layer{.kind = norm}, Layer{.kind = activation, .function = PointwiseKind::gelu},
          Layer{.kind = conv, .width = 8, .kernel = 3, .stride = 2, .groups = 4}, Layer{.kind = norm, .groups = 2, .norm = NormKind::group},
          Layer{.kind = pool, .kernel = 2, .stride = 2, .pooling = PoolingKind::average}, Layer{.kind = conv, .width = 12, .kernel = 1},
          Layer{.kind = conv, .width = 8, .kernel = 2, .stride = 2, .transposed = true}, Layer{.kind = dropout},
          Layer{.kind = dense, .width = 16}, Layer{.kind = activation, .function = PointwiseKind::silu}})
        chain.layers.push_back(l);
    Workload w;
    w.name = "vit";  // for data of ten classes
    w.spec = chain;
    return w;
}

Job cut_perceptron() {
    Job j = job("mlp", 2);
    j.workload.spec = MlpSpec{.widths = {12, 16, 14, 6}};
    return j;
}

// Windows that lie together and windows that are spread: two heads in the first stage.
Job windows() {
    Job j{.name = "windows_over_2", .workload = convolutions(), .shard = {.micro_batch = 1, .tensor = 2}};
    j.workload.spec = ConvolutionalSpec{.name = "maxvit_t", .image_px = 224, .classes = 10};
    return j;
}

Job vision_by_sequence() {
    Job j = job("vit", 2, true);
    std::get<TransformerSpec>(j.workload.spec).image_px = 12;  // nine patches and the class token
    return j;
}

std::vector<Job> jobs() {
    return {cut_perceptron(),
            {.name = "convolutions_over_2", .workload = convolutions(), .shard = {.micro_batch = 4, .tensor = 2}},
            windows(),
            job("gpt", 2),
            job("gpt", 2, true),
            job("gpt", 2, false, false),
            job("gpt", 4, true, false),
            job("llama", 2),
            job("llama", 2, true),
            with_shared_heads(),
            job("bert", 2),
            job("bert", 2, true),
            job("vit", 2),
            vision_by_sequence()};
}

class TensorParallel : public testing::TestWithParam<Job> {};

TEST_P(TensorParallel, ComputesWhatTheSerialNetworkDoes) { expect_same(GetParam(), false); }
TEST_P(TensorParallel, ComputesItWithFullRecomputeToo) { expect_same(GetParam(), true); }

INSTANTIATE_TEST_SUITE_P(Networks, TensorParallel, testing::ValuesIn(jobs()), [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace sextant
