// Modules for multi-token prediction, as DeepSeek-V3 defines them (arXiv 2412.19437, section 2.2): which tokens they read, which labels
// count. Their gradients: differences_test.cpp.
#include "backend/exec/generated_task.hpp"
#include "tests/backend/arrays.hpp"
#include "tests/backend/engine.hpp"
#include "tests/backend/networks.hpp"
#include "tests/backend/single_rank.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

constexpr std::int64_t samples = 3, length = 8;

Workload predicting(std::int64_t modules) {
    Workload w = small_network("llama").workload;
    std::get<TransformerSpec>(w.spec).mtp_layers = modules;
    return w;
}

std::vector<std::int64_t> integers(ComputeDevice& device, const Array& a) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(a.elements));
    device.download(a, values.data());
    return values;
}

TEST(MultiTokenPrediction, ReadsTokensAndLabelsFurtherAhead) {
    const std::unique_ptr<ComputeDevice> device = make_device();
    const Network network = build_network(predicting(2), {.micro_batch = samples});
    const GeneratedTask task(network, 1, Element::real);
    const int blocks = static_cast<int>(network.sequence.size());
    const auto data_of = [&](int block, ContextCut context = {}) {
        Shard shard{.micro_batch = samples, .context = context.ranks};
        const Network mine = build_network(predicting(2), shard);
        return task.inputs(*device, mine.templates[static_cast<std::size_t>(mine.sequence[static_cast<std::size_t>(block)])].graph, block,
                           context, 0, samples);
    };
    const std::vector<std::int64_t> tokens = integers(*device, data_of(0)[0]), labels = integers(*device, data_of(blocks - 1)[1]);
    for (std::int64_t k = 1; k <= 2; ++k) {
        const std::vector<Array> all = data_of(blocks - 3 + static_cast<int>(k - 1));
        const std::vector<std::int64_t> next = integers(*device, all[all.size() - 2]), further = integers(*device, all.back());
        for (std::int64_t s = 0; s < samples; ++s)
            for (std::int64_t i = 0; i + k < length; ++i) {
                const auto at = static_cast<std::size_t>(s * length + i), ahead = at + static_cast<std::size_t>(k);
                EXPECT_EQ(next[at], tokens[ahead]);
                EXPECT_EQ(further[at], labels[ahead]);
            }
    }
    // A context rank has the tokens of its positions, which may lie on another: the second of two has positions 2 to 5.
    const std::vector<Array> part = data_of(blocks - 3, {.rank = 1, .ranks = 2, .balanced = true});
    const std::vector<std::int64_t> next = integers(*device, part[part.size() - 2]);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(next[i], tokens[i + 3]);
}

// Module k has no label for the last k positions: whatever stands there changes nothing. The mean is over all positions, as there (24).
TEST(MultiTokenPrediction, CountsNoPositionBehindTheLastToken) {
    const std::unique_ptr<ComputeDevice> made = make_device();
    ComputeDevice& device = *made;
    SingleRank alone;
    const Workload w = predicting(2);
    WholeNetwork net(device, alone, w, {.shard = {.micro_batch = samples}});
    net.draw_weights(3);
    const std::size_t first = net.blocks() - 3;
    struct Found {
        std::vector<double> losses;
        std::vector<float> gradients;
    };
    // Label `moved` of the second module's is another.
    const auto run = [&](std::int64_t moved) {
        int seen = 0;
        const WholeNetwork::Data usual = made_data(device, w.name);
        const WholeNetwork::Data data = [&](const Tensor& t) {
            Array array = usual(t);
            if (t.name != "loss.labels" || seen++ != 1 || moved < 0) return array;
            std::vector<std::int64_t> values = integers(device, array);
            values[static_cast<std::size_t>(moved)] = (values[static_cast<std::size_t>(moved)] + 1) % 61;
            return to_device(device, values);
        };
        net.clear_gradients();
        net.forward_and_backward(data);
        Found found{net.losses(), {}};
        net.for_each_parameter([&](std::size_t, const ParameterTensor&, const Array&, const Array& g) {
            const std::vector<float> more = from_device(device, g);
            found.gradients.insert(found.gradients.end(), more.begin(), more.end());
        });
        return found;
    };
    const Found usual = run(-1);
    for (const std::int64_t row : {length - 1, length - 2, samples * length - 1}) {
        const Found moved = run(row);
        EXPECT_EQ(moved.losses, usual.losses) << row;
        EXPECT_EQ(moved.gradients, usual.gradients) << row;
    }
    const Found counted = run(length - 3);
    EXPECT_NE(counted.losses[first + 1], usual.losses[first + 1]);
    EXPECT_EQ(counted.losses[first], usual.losses[first]);
    EXPECT_NE(counted.gradients, usual.gradients);
    // Hardly anything is known yet: each position that counts loses about log(61), and k of 8 do not count.
    EXPECT_NEAR(usual.losses[first], std::log(61) * 7 / 8, 0.3);
    EXPECT_NEAR(usual.losses[first + 1], std::log(61) * 6 / 8, 0.3);
}

}  // namespace
}  // namespace sextant
