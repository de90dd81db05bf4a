#include "model/io/onnx/onnx_import.hpp"

#include "model/io/format/protobuf_writer.hpp"
#include "model/io/workload/workload_writer.hpp"
#include "tests/base/refusal.hpp"
#include "tests/io/read_back_workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using LayerKind = ChainLayer::Kind;

// ---- what torch.onnx.export would write, in a few functions

using protobuf::bytes;
using protobuf::number;
using protobuf::varint;

struct Attribute {
    std::string name;
    std::vector<std::int64_t> values;
    bool list = true;
    std::string text{};
};
struct Node {
    std::string type;
    std::vector<std::string> inputs;
    std::string output;
    std::vector<Attribute> attributes{};
};
struct Weight {
    std::string name;
    std::vector<std::int64_t> dims;
    std::vector<float> values{};  // none: as many as nobody reads
};

std::string to_text(const Node& n) {
    std::string text;
    for (const std::string& in : n.inputs) text += bytes(1, in);
    text += bytes(2, n.output) + bytes(4, n.type);
    for (const Attribute& a : n.attributes) {
        std::string attribute = bytes(1, a.name), packed;
        for (const std::int64_t v : a.values) {
            if (a.list)
                packed += varint(static_cast<std::uint64_t>(v));
            else
                attribute += number(3, v);
        }
        if (!a.text.empty())
            attribute += bytes(4, a.text);
        else if (a.list)
            attribute += bytes(8, packed);
        text += bytes(5, attribute);
    }
    return text;
}

std::string to_text(const Weight& w) {
    std::string text;
    for (const std::int64_t d : w.dims) text += number(1, d);
    std::string data(16, '\0');  // never read
    if (!w.values.empty()) data.assign(reinterpret_cast<const char*>(w.values.data()), 4 * w.values.size());
    return text + number(2, 1) + bytes(8, w.name) + bytes(9, data);
}

// `shape` behind the number of samples, which is left open.
std::string model(const std::vector<std::int64_t>& shape, const std::vector<Weight>& weights, const std::vector<Node>& nodes) {
    std::string dimensions = bytes(1, bytes(2, "batch"));
    for (const std::int64_t d : shape) dimensions += bytes(1, number(1, d));
    const std::string input = bytes(1, "data") + bytes(2, bytes(1, number(1, 1) + bytes(2, dimensions)));
    std::string graph = bytes(2, "main_graph") + bytes(11, input) + bytes(12, bytes(1, nodes.back().output));
    for (const Weight& w : weights) graph += bytes(5, to_text(w));
    for (const Node& n : nodes) graph += bytes(1, to_text(n));
    return number(1, 8) + bytes(2, "pytorch") + bytes(3, "2.9") + bytes(7, graph);
}

const Attribute same3{"pads", {1, 1, 1, 1}}, stride2{"strides", {2, 2}}, window3{"kernel_shape", {3, 3}};

const std::vector<Weight> weights_of_residual{{"w1", {16, 3, 3, 3}},
                                              {"w2", {16, 16, 3, 3}},
                                              {"w3", {16, 16, 1, 1}},
                                              {"g", {16}},
                                              {"b", {16}},
                                              {"m", {16}},
                                              {"v", {16}},
                                              {"fc", {10, 16}},
                                              {"fb", {10}}};
// A convolution, a residual whose shortcut is a convolution too, and a classifier.
std::vector<Node> residual() {
    return {{"Conv", {"data", "w1"}, "c1", {same3, stride2}},
            {"BatchNormalization", {"c1", "g", "b", "m", "v"}, "n1"},
            {"Relu", {"n1"}, "r1"},
            {"Conv", {"r1", "w2", "b"}, "c2", {same3}},
            {"Conv", {"r1", "w3"}, "c3"},
            {"Add", {"c2", "c3"}, "sum"},
            {"GlobalAveragePool", {"sum"}, "mean"},
            {"Flatten", {"mean"}, "flat"},
            {"Gemm", {"flat", "fc", "fb"}, "logits", {{"transB", {1}, false}}}};
}

std::vector<LayerKind> kinds_of(const Workload& w) {
    std::vector<LayerKind> kinds;
    for (const ChainLayer& l : std::get<ChainSpec>(w.spec).layers) kinds.push_back(l.kind);
    return kinds;
}

std::string refusal(const std::string& file) {
    return refusal_by([&] { return import_onnx(file, "model.onnx"); });
}

TEST(OnnxImport, ReadsLayersAndHowTheyAreWired) {
    const Workload w = import_onnx(model({3, 32, 32}, weights_of_residual, residual()), "small.onnx");
    const auto& chain = std::get<ChainSpec>(w.spec);
    EXPECT_EQ(w.name, "small");
    EXPECT_EQ(w.source, "ONNX, written by pytorch 2.9");
    EXPECT_THAT(chain.input_shape, ElementsAre(3, 32, 32));
    EXPECT_EQ(chain.classes, 10);
    EXPECT_THAT(kinds_of(w), ElementsAre(LayerKind::conv, LayerKind::norm, LayerKind::activation, LayerKind::conv, LayerKind::conv,
                                         LayerKind::add, LayerKind::pool));
    EXPECT_EQ(chain.layers[0].stride, 2);
    EXPECT_FALSE(chain.layers[0].bias);
    EXPECT_TRUE(chain.layers[3].bias);
    EXPECT_THAT(chain.layers[4].from, ElementsAre("r1"));
    EXPECT_THAT(chain.layers[5].from, ElementsAre("c2", "c3"));
    // 3*16*9 + 2*16, then 16*16*9 + 16, then 16*16, then 16*10 + 10.
    EXPECT_EQ(size_of(w).parameters, 464 + 2320 + 256 + 170);
}

TEST(OnnxImport, ReadsWhatItWrites) { expect_reads_back(import_onnx(model({3, 32, 32}, weights_of_residual, residual()), "small.onnx")); }

TEST(OnnxImport, KnowsTheHabitsOfThoseWhoWriteIt) {
    // A product without bias and an addition; x times its sigmoid; a gate; a mean over pixels; a shape that is worked out.
    const std::vector<Weight> weights{{"w", {8, 3, 1, 1}}, {"s", {8, 8, 1, 1}}, {"fc", {8, 5}}, {"fb", {5}}};
    const std::vector<Node> nodes{{"Conv", {"data", "w"}, "c"},
                                  {"Sigmoid", {"c"}, "sig"},
                                  {"Mul", {"c", "sig"}, "silu"},
                                  {"ReduceMean", {"silu"}, "mean", {{"axes", {-1, -2}}}},
                                  {"Conv", {"mean", "s"}, "factor"},
                                  {"Sigmoid", {"factor"}, "gate"},
                                  {"Mul", {"gate", "silu"}, "gated"},
                                  {"GlobalAveragePool", {"gated"}, "pooled"},
                                  {"Shape", {"pooled"}, "shape"},
                                  {"Reshape", {"pooled", "shape"}, "flat"},
                                  {"MatMul", {"flat", "fc"}, "product"},
                                  {"Add", {"fb", "product"}, "logits"},
                                  {"Softmax", {"logits"}, "probabilities"}};
    const Workload w = import_onnx(model({3, 8, 8}, weights, nodes), "gated.onnx");
    const auto& layers = std::get<ChainSpec>(w.spec).layers;
    EXPECT_THAT(kinds_of(w), ElementsAre(LayerKind::conv, LayerKind::activation, LayerKind::pool, LayerKind::conv, LayerKind::activation,
                                         LayerKind::multiply, LayerKind::pool));
    EXPECT_EQ(layers[1].function, PointwiseKind::silu);
    EXPECT_THAT(layers[5].from, ElementsAre("sig", "gate"));  // the image, then the factor
    EXPECT_EQ(size_of(w).parameters, 3 * 8 + 8 * 8 + 8 * 5 + 5);
}

TEST(OnnxImport, ReadsWindowsAsTheyArePadded) {
    const std::vector<Weight> weights{{"w1", {4, 3, 7, 7}}, {"w2", {4, 4, 3, 3}}, {"w3", {4, 4, 1, 7}}, {"fc", {10, 4 * 7 * 7}}};
    const std::vector<Node> nodes{{"Conv", {"data", "w1"}, "a", {{"pads", {2, 2, 3, 3}}, stride2}},  // as TensorFlow pads: one side more
                                  {"MaxPool", {"a"}, "b", {window3, stride2, {"ceil_mode", {1}, false}}},
                                  {"Conv", {"b", "w2"}, "c", {{"pads", {0, 0, 0, 0}}}},
                                  {"Conv", {"c", "w3"}, "d", {{"pads", {0, 3, 0, 3}}}},
                                  {"Gemm", {"d", "fc"}, "logits", {{"transB", {1}, false}}}};
    const Workload w = import_onnx(model({3, 36, 36}, weights, nodes), "windows.onnx");  // 36, 18, 9, 7, 7
    const auto& layers = std::get<ChainSpec>(w.spec).layers;
    EXPECT_EQ(layers[0].padding, 3);
    EXPECT_TRUE(layers[1].round_up);
    EXPECT_EQ(layers[2].padding, 0);
    EXPECT_EQ(layers[3].kernel_w, 7);
    EXPECT_FALSE(layers[3].padding);
}

TEST(OnnxImport, ReadsActivationsOfChains) {
    std::vector<Node> nodes = residual();
    nodes[2].type = "Tanh";
    const Workload w = import_onnx(model({3, 32, 32}, weights_of_residual, nodes), "small.onnx");
    EXPECT_EQ(std::get<ChainSpec>(w.spec).layers[2].function, PointwiseKind::tanh);
    EXPECT_THAT(write_workload(w), HasSubstr("\"tanh\""));
}

const std::vector<Weight> weights_of_decoder{{"w1", {8, 3, 3, 3}}, {"w2", {16, 8, 3, 3}},        {"up", {16, 8, 2, 2}},
                                             {"ub", {8}},          {"w3", {8, 16, 3, 3}},        {"w4", {2, 8, 1, 1}},
                                             {"b4", {2}},          {"scales", {4}, {1, 1, 2, 2}}};
// An encoder of two sizes and its decoder; between them a dilated convolution.
std::vector<Node> decoder() {
    return {{"Conv", {"data", "w1"}, "c1", {same3}},
            {"Relu", {"c1"}, "skip"},
            {"MaxPool", {"skip"}, "half", {{"kernel_shape", {2, 2}}, stride2}},
            {"Conv", {"half", "w2"}, "c2", {{"pads", {2, 2, 2, 2}}, {"dilations", {2, 2}}}},
            {"Relu", {"c2"}, "r2"},
            {"ConvTranspose", {"r2", "up", "ub"}, "u", {{"kernel_shape", {2, 2}}, stride2}},
            {"Pad", {"u"}, "padded", {{"pads", {0, 0, 0, 0, 0, 0, 0, 0}}}},
            {"Concat", {"skip", "padded"}, "both", {{"axis", {1}, false}}},
            {"Conv", {"both", "w3"}, "c3", {same3}},
            {"Relu", {"c3"}, "r3"},
            {"Conv", {"r3", "w4", "b4"}, "logits"},
            {"Sigmoid", {"logits"}, "probabilities"}};
}

TEST(OnnxImport, ReadsAnEncoderAndItsDecoder) {
    const Workload w = import_onnx(model({3, 16, 16}, weights_of_decoder, decoder()), "unet.onnx");
    const auto& chain = std::get<ChainSpec>(w.spec);
    EXPECT_THAT(kinds_of(w), ElementsAre(LayerKind::conv, LayerKind::activation, LayerKind::pool, LayerKind::conv, LayerKind::activation,
                                         LayerKind::conv, LayerKind::concat, LayerKind::conv, LayerKind::activation));
    EXPECT_EQ(chain.layers[3].dilation, 2);
    EXPECT_FALSE(chain.layers[3].padding);
    EXPECT_TRUE(chain.layers[5].transposed);
    EXPECT_FALSE(chain.layers[5].padding);
    EXPECT_THAT(chain.layers[6].from, ElementsAre("skip", "u"));
    EXPECT_TRUE(chain.per_pixel);
    EXPECT_EQ(chain.classes, 2);
    EXPECT_EQ(size_of(w).parameters, 216 + 1152 + 16 * 8 * 4 + 8 + 1152 + 18);
    expect_reads_back(w);
}

TEST(OnnxImport, ReadsHowMuchLargerAnImageIsMade) {
    std::vector<Node> nodes = decoder();
    nodes[5] = {"Resize", {"r2", "", "scales"}, "u", {{"mode", {}, false, "linear"}}};
    std::vector<Weight> weights = weights_of_decoder;
    weights[4].dims = {8, 24, 3, 3};
    const Workload w = import_onnx(model({3, 16, 16}, weights, nodes), "unet.onnx");
    const ChainLayer& layer = std::get<ChainSpec>(w.spec).layers[5];
    EXPECT_EQ(layer.kind, LayerKind::upsample);
    EXPECT_EQ(layer.stride, 2);
    EXPECT_EQ(layer.upsampling, PointwiseKind::interpolate);
}

TEST(OnnxImport, SaysWhichLayerItCannotMakeLarger) {
    std::vector<Node> nodes = decoder();
    nodes[5] = {"Resize", {"r2", "", "", "sizes"}, "u"};
    EXPECT_THAT(refusal(model({3, 16, 16}, weights_of_decoder, nodes)),
                HasSubstr("model.onnx:/graph/node/5: Resize: it does not state one whole factor"));
    nodes = decoder();
    nodes[6].attributes = {{"pads", {0, 0, 1, 1, 0, 0, 0, 0}}};
    EXPECT_THAT(refusal(model({3, 16, 16}, weights_of_decoder, nodes)), HasSubstr("model.onnx:/graph/node/6: Pad: it pads by something"));
    nodes[5] = {"ConvTranspose", {"r2", "up"}, "u", {stride2, {"group", {8}, false}}};
    EXPECT_THAT(refusal(model({3, 16, 16}, weights_of_decoder, nodes)),
                HasSubstr("ConvTranspose: a transposed convolution here is square"));
}

TEST(OnnxImport, LeavesOutWhatTheClassifierDoesNotRead) {
    std::vector<Node> nodes = residual();
    nodes.insert(nodes.begin() + 4, {"Conv", {"c2", "w3"}, "of another output"});
    const Workload w = import_onnx(model({3, 32, 32}, weights_of_residual, nodes), "small.onnx");
    EXPECT_EQ(size_of(w).parameters, 464 + 2320 + 256 + 170);
}

TEST(OnnxImport, RefusesWithAllReasons) {
    EXPECT_THAT(refusal("no model"), HasSubstr("no ONNX model"));
    EXPECT_THAT(refusal(""), HasSubstr("no graph in it"));
    const std::string whole = model({3, 32, 32}, weights_of_residual, residual());
    EXPECT_THAT(refusal(whole.substr(0, whole.size() / 2)), HasSubstr("damaged"));

    std::vector<Node> colored = residual();
    colored[6].output = colored[7].inputs[0] = "\x1b[31m";
    EXPECT_THAT(refusal(model({3, 32, 32}, weights_of_residual, colored)), HasSubstr("control characters"));

    const std::string open = refusal(model({3, 0, 0}, weights_of_residual, residual()));
    EXPECT_THAT(open, HasSubstr("export with a fixed size"));

    std::vector<Node> nodes = residual();
    nodes[2].type = "Erf";
    nodes[4].attributes = {{"strides", {1, 2}}};
    const std::string odd = refusal(model({3, 32, 32}, weights_of_residual, nodes));
    EXPECT_THAT(odd, HasSubstr("model.onnx:/graph/node/2: Erf: no layer of a chain does that"));
    EXPECT_THAT(odd, HasSubstr("its strides differ"));

    const std::string short_one = refusal(model({3, 32, 32}, weights_of_residual, {residual()[0]}));
    EXPECT_THAT(short_one, HasSubstr("does not end with a linear layer"));

    // Images of 8 x 8 pixels reach a layer that the file has for 16.
    nodes = residual();
    nodes[6] = {"Identity", {"sum"}, "mean"};
    std::vector<Weight> weights = weights_of_residual;
    weights[7].dims = {10, 16 * 16};
    EXPECT_THAT(refusal(model({3, 32, 32}, weights, nodes)), HasSubstr("larger or smaller somewhere"));
}

TEST(OnnxImport, APipeIsRefusedAndNotWaitedFor) {
    const std::filesystem::path pipe = testing::TempDir() + "sextant_pipe_" + std::to_string(::getpid()) + ".onnx";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_THROW(import_onnx(pipe), InputError);
    std::filesystem::remove(pipe);
}

TEST(OnnxImport, AFileThatIsNotThereIsWrongInput) {
    EXPECT_THROW(import_onnx(std::filesystem::path("/nowhere/model.onnx")), InputError);
    EXPECT_THROW(import_onnx(std::filesystem::path(SEXTANT_SOURCE_DIR)), InputError);
    EXPECT_THROW(import_onnx(std::filesystem::path("/dev/zero")), InputError);
    const std::filesystem::path empty = testing::TempDir() + "sextant_empty_" + std::to_string(::getpid()) + ".onnx";
    std::ofstream(empty).close();
    EXPECT_THAT(refusal_by([&] { return import_onnx(empty); }), HasSubstr(": is empty"));
    std::filesystem::remove(empty);
}

}  // namespace
}  // namespace sextant
