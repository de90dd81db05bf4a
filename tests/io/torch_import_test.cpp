#include "model/io/torch/torch_import.hpp"

#include "tests/base/refusal.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace sextant {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string programs = SEXTANT_SOURCE_DIR "/tests/io/torch_programs/";

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}
Workload imported(const std::string& program) { return import_torch(text_of(programs + program + ".json"), program + ".json"); }

GraphSpec graph_of(const Workload& w) { return std::get<GraphSpec>(w.spec); }
OperatorGraph block(const Workload& w, std::size_t number) {
    const Network network = graph_of(w).network;
    return network.templates[static_cast<std::size_t>(network.sequence[number])].graph;
}
std::vector<std::string> names(const OperatorGraph& graph) {
    std::vector<std::string> all;
    for (const Operator& op : graph.operators()) all.push_back(op.name);
    return all;
}
const Operator& named(const OperatorGraph& graph, const std::string& name) {
    const auto found = std::ranges::find(graph.operators(), name, &Operator::name);
    if (found == graph.operators().end()) throw std::runtime_error("no operator is called " + name);
    return *found;
}
PointwiseKind pass(const OperatorGraph& graph, const std::string& name) { return std::get<Pointwise>(named(graph, name).kind).kind; }
double parameters_of(const OperatorGraph& graph, const std::string& name) { return named(graph, name).parameters; }

TEST(TorchImport, AConvolutionalNetworkIsWhatItsModulesAre) {
    const Workload w = imported("convolutional");
    EXPECT_EQ(w.title, "Convolutional");
    EXPECT_THAT(w.source, AllOf(HasSubstr("PyTorch 2.15"), HasSubstr("2 samples")));
    EXPECT_THAT(graph_of(w).only_predicted, IsEmpty());

    // Stem 7 x 7 x 3 x 16 + 16, norm 32. Two blocks of 3 x 3 x 16 x 16, norm 32, 3 x 3 x 4 x 16 in groups, norm 32. One of 3 x 3 x 16 x 32,
    // norm 64, 3 x 3 x 8 x 32, norm 64, shortcut 16 x 32 + 32. Classifier 32 x 10 + 10.
    const double block = 2304 + 32 + 576 + 32, last = 4608 + 64 + 2304 + 64 + 544;
    EXPECT_EQ(size_of(w).parameters, 2368 + 32 + 2 * block + last + 330);
    // Twice the multiply-adds: filters without biases, at each of 16 x 16, 8 x 8 and 4 x 4 pixels.
    const double products = 2352 * 256.0 + 2 * (2304 + 576) * 64.0 + (4608 + 2304 + 512) * 16.0 + 320;
    EXPECT_EQ(size_of(w).forward.si(), 2 * products);
}

TEST(TorchImport, AWindowIsReadWithItsStrideItsPaddingAndItsGroups) {
    const OperatorGraph stem = block(imported("convolutional"), 0);
    const auto& conv = std::get<Convolution>(named(stem, "stem.0").kind);
    EXPECT_EQ(conv.batch, 1);
    EXPECT_EQ(conv.kernel_h, 7);
    EXPECT_EQ(conv.stride, 2);
    EXPECT_EQ(conv.padding_w, 3);
    EXPECT_EQ(conv.out_h, 16);
    const OperatorGraph second = block(imported("convolutional"), 2);
    EXPECT_EQ(std::get<Convolution>(named(second, "conv2").kind).groups, 4);
    EXPECT_EQ(std::get<Normalization>(named(second, "bn2").kind), (Normalization{NormKind::batch, 16, 64}));
}

TEST(TorchImport, ABlockEndsWhereAnItemOfAListDoes) {
    const Network network = graph_of(imported("convolutional")).network;
    std::vector<std::string> blocks;
    for (const int index : network.sequence) blocks.push_back(network.templates[static_cast<std::size_t>(index)].name);
    EXPECT_THAT(blocks, ElementsAre("stem.0", "stem.3", "blocks.1", "blocks.2", "network"));
    EXPECT_THAT(names(block(imported("convolutional"), 2)), ElementsAre("conv1", "bn1", "relu", "conv2", "bn2", "add", "relu"));
}

TEST(TorchImport, LayersThatAreAlikeAreOneTemplate) {
    const Network network = graph_of(imported("transformer")).network;
    ASSERT_EQ(network.sequence.size(), 5U);
    EXPECT_EQ(network.sequence[2], network.sequence[3]);
    EXPECT_EQ(network.templates[static_cast<std::size_t>(network.sequence.back())].role, BlockRole::head);
}

TEST(TorchImport, ATransformersLayerHasItsAttentionAsOneOperator) {
    const Workload w = imported("transformer");
    const OperatorGraph layer = block(w, 2);
    EXPECT_THAT(names(layer), ElementsAre("norm1", "qkv", "unbind", "scaled_dot_product_attention", "out", "add", "norm2", "mlp.0",
                                          "mlp.1.gelu", "mlp.2", "mlp.3.dropout", "add"));
    const auto attention = std::get<Attention>(named(layer, "scaled_dot_product_attention").kind);
    EXPECT_EQ(attention, (Attention{.batch = 1, .heads = 4, .kv_heads = 4, .query_len = 16, .key_len = 16, .head_dim = 8, .value_dim = 8}));
    EXPECT_EQ(pass(layer, "unbind"), PointwiseKind::view);
    EXPECT_EQ(w.tokens_per_sample(), 16);
    EXPECT_EQ(w.sample_word(), "sequence");
}

TEST(TorchImport, ATableThatIsTheOutputToo) {
    const Workload w = imported("transformer");
    const OperatorGraph first = block(w, 0), last = block(w, 4);
    EXPECT_EQ(named(first, "tokens").shared, SharedMatrix::embedding);
    EXPECT_FALSE(named(first, "tokens").tied);
    EXPECT_TRUE(named(last, "output").tied);
    EXPECT_EQ(named(last, "output").shared, SharedMatrix::embedding);
    // 100 x 32 tokens and 16 x 32 positions; of a layer two norms of 64, 32 x 96 + 96, 32 x 32 + 32, 32 x 128 + 128, 128 x 32 + 32; a norm.
    EXPECT_EQ(size_of(w).parameters, 3200 + 512 + 3 * (128 + 3168 + 1056 + 4224 + 4128) + 64);
}

TEST(TorchImport, WhatNoInputGoesIntoIsCountedWhereItIsRead) {
    const OperatorGraph graph = block(imported("transformer"), 1);
    EXPECT_EQ(pass(graph, "add"), PointwiseKind::bias);
    EXPECT_EQ(parameters_of(graph, "add"), 16 * 32);  // the table of positions; looking them up is no operator
    const OperatorGraph written_out = block(imported("written_out"), 0);
    EXPECT_THAT(names(written_out), Not(Contains(HasSubstr("where"))));
    EXPECT_EQ(parameters_of(written_out, "q"), 1024);
    EXPECT_TRUE(named(written_out, "q").frozen);
    EXPECT_FALSE(named(written_out, "kv").frozen);
    EXPECT_EQ(size_of(imported("written_out")).trained_parameters, size_of(imported("written_out")).parameters - 1024);
}

TEST(TorchImport, AttentionInPassesIsProductsAndCopiesOfWhatDoesNotLieInBatches) {
    const OperatorGraph graph = block(imported("written_out"), 0);
    std::vector<std::string> scores;
    for (const std::string& name : names(graph)) scores.push_back(name);
    const auto begin = std::ranges::find(scores, "split");
    // Of [8 tokens, 4 heads, 8] by heads nothing lies in one row: queries, keys and values are copied, and what they make is put back.
    EXPECT_THAT(std::vector(begin, scores.end()),
                ElementsAre("split", "copy", "copy", "matmul", "mul", "add", "add", "softmax", "copy", "matmul", "flatten", "add"));
    const auto product = std::ranges::find_if(graph.operators(), [](const Operator& op) { return op.name == "matmul"; });
    EXPECT_EQ(std::get<Gemm>(product->kind), (Gemm{.batch = 4, .m = 8, .n = 8, .k = 8, .weight = false}));
    EXPECT_EQ(std::get<Softmax>(named(graph, "softmax").kind), (Softmax{.rows = 32, .width = 8}));
    EXPECT_TRUE(named(graph, "softmax").attention_core);
}

TEST(TorchImport, WhatAPassKeepsFollowsFromItsFunction) {
    const OperatorGraph graph = block(imported("written_out"), 0);
    EXPECT_EQ(pass(graph, "pow"), PointwiseKind::from_input);
    EXPECT_EQ(pass(graph, "rsqrt"), PointwiseKind::from_output);
    EXPECT_EQ(std::get<Pooling>(named(graph, "mean").kind).window, 32);
    EXPECT_THAT(graph_of(imported("written_out")).only_predicted, HasSubstr("mean"));
}

TEST(TorchImport, WhatAnEncoderMadeGoesPastTheLayersOfADecoder) {
    const Workload w = imported("encoder_decoder");
    const Network network = graph_of(w).network;
    std::vector<std::string> blocks;
    for (const int index : network.sequence) blocks.push_back(network.templates[static_cast<std::size_t>(index)].name);
    EXPECT_THAT(blocks, ElementsAre("source", "target", "encoder.0.0", "encoder.1.0", "decoder.1", "decoder.2", "output"));
    for (const std::size_t tokens : {0, 1}) {
        const OperatorGraph graph = block(w, tokens);
        EXPECT_EQ(graph.tensor(graph.inputs().back()).role, TensorRole::index);
    }
    const OperatorGraph layer = block(w, 4);
    ASSERT_EQ(layer.inputs().size(), 2U);
    EXPECT_EQ(layer.tensor(layer.inputs()[0]).shape, (std::vector<std::int64_t>{5, 16}));
    EXPECT_EQ(layer.tensor(layer.inputs()[1]).shape, (std::vector<std::int64_t>{7, 16}));
    EXPECT_EQ(layer.outputs()[1], layer.inputs()[1]);
}

TEST(TorchImport, OneSampleIsTheSameHoweverManyWereTraced) {
    const Workload two = imported("encoder_decoder"), three = imported("encoder_decoder_of_three");
    ASSERT_EQ(graph_of(two).network.sequence, graph_of(three).network.sequence);
    for (std::size_t t = 0; t < graph_of(two).network.templates.size(); ++t)
        EXPECT_EQ(graph_of(two).network.templates[t].graph, graph_of(three).network.templates[t].graph);
}

TEST(TorchImport, AMicroBatchIsSoManySamples) {
    const Workload w = imported("convolutional");
    const Network four = build_network(w, {.micro_batch = 4});
    const OperatorGraph& graph = four.templates[static_cast<std::size_t>(four.sequence[2])].graph;
    EXPECT_EQ(std::get<Convolution>(named(graph, "conv1").kind).batch, 4);
    EXPECT_EQ(std::get<Normalization>(named(graph, "bn1").kind), (Normalization{NormKind::batch, 16, 4 * 64}));
    EXPECT_EQ(graph.tensor(graph.inputs().front()).shape, (std::vector<std::int64_t>{4, 16, 8, 8}));
    EXPECT_EQ(four.parameters(), size_of(w).parameters);
    const Network inference = build_network(imported("transformer"), {.training = false});
    EXPECT_THAT(names(inference.templates[static_cast<std::size_t>(inference.sequence[2])].graph), Not(Contains("mlp.3.dropout")));
    EXPECT_THAT(names(inference.templates[static_cast<std::size_t>(inference.sequence[4])].graph), Not(Contains("loss")));
}

TEST(TorchImport, ManyKindsOfCalls) {
    const OperatorGraph graph = block(imported("several"), 0);
    EXPECT_EQ(std::get<Normalization>(named(graph, "norm").kind), (Normalization{NormKind::group, 2, 4 * 36}));
    EXPECT_EQ(pass(graph, "hardswish"), PointwiseKind::from_input);
    EXPECT_EQ(pass(graph, "roll"), PointwiseKind::copy);
    EXPECT_EQ(named(graph, "cat").inputs.size(), 2U);
    EXPECT_EQ(graph.tensor(named(graph, "slice").outputs.front()).shape, (std::vector<std::int64_t>{1, 8, 6, 6}));
    const auto up = std::get<Convolution>(named(graph, "up").kind);
    EXPECT_TRUE(up.transposed);
    EXPECT_EQ(up.out_w, 12);
    EXPECT_EQ(parameters_of(graph, "up"), 8 * 4 * 4 + 4);
    EXPECT_EQ(pass(graph, "upsample_bilinear2d"), PointwiseKind::interpolate);
    // "nchw,ndhw->ncd": 4 x 4 sums over 36 pixels.
    EXPECT_EQ(std::get<Gemm>(named(graph, "einsum").kind), (Gemm{.batch = 1, .m = 4, .n = 4, .k = 36, .weight = false}));
    const auto rows = std::get<Convolution>(named(block(imported("several"), 1), "rows").kind);
    EXPECT_EQ(rows.kernel_h, 1);
    EXPECT_EQ(rows.kernel_w, 3);
    EXPECT_EQ(rows.padding_w, 1);
}

TEST(TorchImport, CallsThatNoOperatorIsKnownForAreNamedAllAtOnce) {
    const auto import = [] { return imported("unknown"); };
    EXPECT_THAT(refused_pointers(import), ElementsAre("/graph_module/graph/nodes/3", "/graph_module/graph/nodes/2"));
    EXPECT_THAT(refusal_by(import),
                AllOf(HasSubstr("aten.lstm.input"), HasSubstr("called in lstm"), HasSubstr("aten.fft_rfft.default (2 calls)")));
}

TEST(TorchImport, AnArchiveIsReadAsPyTorchWritesIt) {
    const Workload w = import_torch(std::filesystem::path(programs + "archive.pt2"));
    EXPECT_EQ(w.name, "archive");
    EXPECT_EQ(size_of(w).parameters, 8 * 4 + 4 + 4 * 2 + 2);
}

using TorchArchive = TemporaryFolder;

TEST_F(TorchArchive, DamagedOnesAreRefused) {
    const std::string whole = text_of(programs + "archive.pt2");
    const auto refusal = [&](const std::string& bytes) {
        const std::filesystem::path path = file("model.pt2");
        std::ofstream(path, std::ios::binary) << bytes;
        return refusal_by([&] { return import_torch(path); });
    };
    EXPECT_THAT(refusal(""), HasSubstr("model.pt2"));
    EXPECT_THAT(refusal("not an archive at all"), HasSubstr("no whole archive"));
    EXPECT_THAT(refusal("{\"graph_module\": {}}"), HasSubstr("no whole archive"));
    for (const std::size_t length : {std::size_t{100}, whole.size() / 2})
        EXPECT_THAT(refusal(whole.substr(0, length)), HasSubstr("model.pt2")) << length << " bytes of it";
    EXPECT_THAT(refusal_by([&] { return import_torch(std::filesystem::path(file("absent.pt2"))); }), HasSubstr("absent.pt2"));
}

TEST(TorchImport, WhatIsNoProgramIsRefusedWithItsPlace) {
    const auto refusal = [](const std::string& json) { return refusal_by([&] { return import_torch(json, "model.json"); }); };
    EXPECT_THAT(refusal(""), HasSubstr("no exported program"));
    EXPECT_THAT(refusal("[1]"), HasSubstr("no exported program"));
    EXPECT_THAT(refusal(R"({"graph_module": {}})"), HasSubstr("schema_version"));
    EXPECT_THAT(refusal(R"({"graph_module": {}, "schema_version": {"major": 99}})"), HasSubstr("version"));
    EXPECT_THAT(refusal(R"({"graph_module": {}, "schema_version": {"major": 8}})"), HasSubstr("\"graph\""));
    const std::string whole = text_of(programs + "several.json");
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string changed = whole;
        const std::size_t at = changed.find(from);
        if (at == std::string::npos) throw std::runtime_error("no " + from);
        return refusal(changed.replace(at, from.size(), to));
    };
    const std::string extent = R"("sizes":[{"as_int":)";
    EXPECT_THAT(with(extent, extent + "-"), HasSubstr("an extent is not known, or too large"));
    EXPECT_THAT(with(extent, extent + "9000000000000"), HasSubstr("an extent is not known, or too large"));
    EXPECT_THAT(with(extent + "2},", extent + "900000000000},"), HasSubstr("nobody has a tensor of so many elements"));
    EXPECT_THAT(with(R"("strides":[)", R"("strides":[{"as_int":1},)"), HasSubstr("not as many strides as sizes"));
    EXPECT_THAT(with(R"("name":"num_groups","arg":{"as_int":2})", R"("name":"num_groups","arg":{"as_int":0})"),
                HasSubstr("a norm of nothing"));
    EXPECT_THAT(with("nchw,ndhw->ncd", "nchw,ndhw"), HasSubstr("is not understood"));
}

}  // namespace
}  // namespace sextant
