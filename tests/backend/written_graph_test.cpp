// Networks that are written out operator by operator train as those that are built, or are refused.
#include "backend/exec/written_graph.hpp"
#include "tests/backend/arrays.hpp"
#include "tests/backend/engine.hpp"
#include "tests/backend/networks.hpp"
#include "tests/backend/single_rank.hpp"
#include "tests/io/read_back_workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <random>

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One of those, or images through every layer that a chain may have.
SmallNetwork known(const std::string& name) {
    if (name != "chain") return small_network(name);
    using Kind = ChainLayer::Kind;
    const ChainSpec chain{.input_shape = {3, 8, 8},
                          .layers = {{.kind = Kind::conv, .width = 8, .kernel = 3, .name = "before"},
                                     {.kind = Kind::norm},
                                     {.kind = Kind::activation, .function = PointwiseKind::silu},
                                     {.kind = Kind::pool, .kernel = 2, .stride = 2},
                                     {.kind = Kind::conv, .width = 8, .kernel = 3, .groups = 2, .dilation = 2},
                                     {.kind = Kind::norm, .groups = 4, .norm = NormKind::group},
                                     {.kind = Kind::upsample, .stride = 2, .upsampling = PointwiseKind::interpolate},
                                     {.kind = Kind::dropout},
                                     {.kind = Kind::concat, .name = "both", .from = {"before", "dropped"}},
                                     {.kind = Kind::conv, .width = 4, .kernel = 2, .stride = 2, .transposed = true}},
                          .classes = 61};
    Workload workload;
    workload.spec = chain;
    std::get<ChainSpec>(workload.spec).layers[7].name = "dropped";
    return {workload, 2};
}

Workload written_out(const std::string& name) {
    const Workload workload = known(name).workload;
    return {name, name, GraphSpec{build_network(workload, {}), {}}, ""};
}

std::vector<double> losses_of(const Workload& workload, std::int64_t samples, const WholeNetwork::Data& data, ComputeDevice& device) {
    SingleRank alone;
    WholeNetwork net(device, alone, workload, {.shard = {.micro_batch = samples}});
    net.draw_weights(1);
    std::vector<double> losses;
    for (std::uint64_t step = 0; step < 2; ++step) {
        net.clear_gradients();
        losses.push_back(net.forward_and_backward(data, {.seed = 2, .step = step}));
        net.update({.learning_rate = 0.01});
    }
    return losses;
}

class WrittenGraph : public testing::TestWithParam<std::string> {};

// Two steps: losses, and so the gradients of the first, are the same.
TEST_P(WrittenGraph, TrainsAsTheNetworkThatIsBuilt) {
    const auto [workload, samples] = known(GetParam());
    const Workload graph = expect_reads_back(written_out(GetParam()));
    EXPECT_THAT(what_does_not_run(build_network(graph, {.micro_batch = samples}), samples, true), IsEmpty());
    const std::unique_ptr<ComputeDevice> device = make_device();
    const WholeNetwork::Data data = made_data(*device, GetParam());
    EXPECT_EQ(losses_of(graph, samples, data, *device), losses_of(workload, samples, data, *device));
}
INSTANTIATE_TEST_SUITE_P(Networks, WrittenGraph, testing::Values("mlp", "chain", "gpt", "llama", "bert", "vit"));

using Json = nlohmann::json;

void collect(Json& at, std::vector<Json*>& leaves) {
    if (!at.is_structured()) return leaves.push_back(&at);
    for (Json& inside : at) collect(inside, leaves);
}

// A file with a slip of the keyboard, or several: what reads, and is not refused, runs.
TEST_P(WrittenGraph, RunsWhateverItIsWhenItIsAccepted) {
    const std::string written = write_workload(written_out(GetParam()));
    std::mt19937 random(7);
    const auto any = [&](std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random); };
    constexpr int numbers[] = {0, 1, 2, 3, 4, 8, 12, 16, 24, 32, 64};
    int ran = 0, refused = 0;
    for (int round = 0; round < 400; ++round) {
        Json document = Json::parse(written);
        std::vector<Json*> leaves;
        collect(document["graph"], leaves);
        for (std::size_t changes = 1 + any(3); changes-- > 0;) {
            Json &leaf = *leaves[any(leaves.size())], &other = *leaves[any(leaves.size())];
            if (leaf.is_number())
                leaf = numbers[any(std::size(numbers))];
            else if (leaf.type() == other.type())
                leaf = other;
        }
        Diagnostics problems;
        const auto read = read_workload_file(JsonFile::from_text(document.dump(), "changed.json", problems), find_workload);
        if (!read) continue;
        constexpr std::int64_t samples = 2;
        const Network network = build_network(*read, {.micro_batch = samples});
        if (!what_does_not_run(network, samples, true).empty()) {
            ++refused;
            continue;
        }
        const std::unique_ptr<ComputeDevice> device = make_device();
        const auto zeros = [&](const Tensor& t) {
            const auto count = static_cast<std::size_t>(t.elements());
            return t.role == TensorRole::index ? to_device(*device, std::vector<std::int64_t>(count))
                                               : to_device(*device, std::vector<float>(count));
        };
        losses_of(*read, samples, zeros, *device);
        ++ran;
    }
    EXPECT_GT(ran, 5);
    EXPECT_GT(refused, 1);
}

// What engines would stumble over.
TEST(WrittenGraphs, SayWhichOperatorDoesNotRun) {
    const auto changed = [](const std::string& name, const std::string& from, const std::string& to) {
        std::string text = write_workload(written_out(name));
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
        Diagnostics problems;
        const auto read = read_workload_file(JsonFile::from_text(text, "changed.json", problems), find_workload);
        problems.throw_if_any();
        return what_does_not_run(build_network(*read, {.micro_batch = 2}), 2, true);
    };
    EXPECT_THAT(changed("llama", R"("kind": "gate")", R"("kind": "gate", "gate": "relu")"), ElementsAre(HasSubstr("mlp.act")))
        << "engines know no gate of ReLU";
    EXPECT_THAT(changed("gpt", R"("kind": "gelu")", R"("kind": "from_input")"), ElementsAre(HasSubstr("mlp.act")));
    EXPECT_THAT(changed("mlp", R"("shape": [1, 12])", R"("shape": [1, 3, 4])"), ElementsAre(HasSubstr("vectors or images")));
}

}  // namespace
}  // namespace sextant
