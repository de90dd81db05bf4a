// How cuDNN would run convolutions on GPUs that are not here.
#include "backend/cuda/convolutions.hpp"
#include "model/plan/partition.hpp"
#include "model/sextant.hpp"
#include "tests/backend/told_gpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace sextant::cuda {
namespace {

using testing::HasSubstr;
using Notes = std::vector<cudnnBackendNumericalNote_t>;
using ConvolutionChoice = TellsCudnnOfGpus;

constexpr ConvolutionPass convolution_passes[] = {ConvolutionPass::forward, ConvolutionPass::back, ConvolutionPass::filter};

struct Arithmetic {
    const char* name;
    Element element;
    bool tf32 = false;
};
constexpr Arithmetic fp32{"fp32", Element::real}, tf32{"TF32", Element::real, true}, bf16{"bf16", Element::bf16},
    fp16{"fp16", Element::fp16};

bool has(const Engine& e, cudnnBackendNumericalNote_t note) {
    const Notes notes = e.notes();
    return std::ranges::find(notes, note) != notes.end();
}
bool some_have(const std::vector<Engine>& engines, cudnnBackendNumericalNote_t note) {
    return std::ranges::any_of(engines, [&](const Engine& e) { return has(e, note); });
}
// Whatever they compute in.
std::vector<Engine> all_engines(ConvolutionPass pass, const ConvolutionShape& s, const Descriptor& gpu) {
    return choose_convolution(pass, s, true, gpu).graph.engines(gpu);
}

std::vector<Convolution> convolutions_of(const Network& network) {
    std::vector<Convolution> list;
    for (const Block& b : network.templates)
        for (const Operator& op : b.graph.operators())
            if (const auto* c = std::get_if<Convolution>(&op.kind)) list.push_back(underlying(*c));
    return list;
}

// Of all networks that the catalogue has, each of its convolutions once: 32 images.
std::vector<ConvolutionShape> catalogue() {
    std::set<ConvolutionShape> all;
    for (const std::string& name : workload_names())
        for (const Convolution& c : convolutions_of(build_network(*find_workload(name), {.micro_batch = 32})))
            all.insert(kernels::shape_of(c, Element::real));
    return {all.begin(), all.end()};
}

// 32 images of 56 x 56 and 64 channels, by 128 filters of 3 x 3, every second window: a stage of a ResNet begins so.
ConvolutionShape usual(const Arithmetic& a) { return {32, 64, 56, 56, 128, 28, 28, 3, 3, 2, 1, 1, 1, a.element}; }

// The room that plans ask for once they are compiled. Those that the library compiles here itself want a GPU to be loaded on.
std::size_t room_of_plan(const ConvolutionConfig& config) {
    try {
        return ExecutionPlan(config.graph, config.engines.front()).workspace_bytes();
    } catch (const BackendError& e) {
        EXPECT_THAT(e.what(), HasSubstr("CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER"));
        return config.engines.front().workspace_bytes;
    }
}

void expect_taken(ConvolutionPass pass, ConvolutionShape s, const Arithmetic& a, const Descriptor& gpu) {
    s.element = a.element;
    SCOPED_TRACE(a.name);
    const ConvolutionConfig config = choose_convolution(pass, s, a.tf32, gpu);  // throws where it is not
    const Engine& first = config.engines.front();
    EXPECT_LE(first.workspace_bytes, most_workspace_bytes);
    Notes unwanted{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION,
                   CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS};
    if (is_half(a.element))
        unwanted.push_back(CUDNN_NUMERICAL_NOTE_WINOGRAD);  // its transforms cost a few bits, of which there are enough in fp32
    else if (!a.tf32)
        unwanted.push_back(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    for (const auto note : unwanted) EXPECT_FALSE(has(first, note)) << note;
}

// For their time each way to compute (GPU, arithmetic, pass) is asked for one of so many of them, and the next way for those beside them.
void expect_catalogue_taken(std::size_t step, std::initializer_list<Descriptor> gpus, std::initializer_list<Arithmetic> arithmetics) {
    const std::vector<ConvolutionShape> shapes = catalogue();
    for (std::size_t way = 0; const Descriptor& gpu : gpus)
        for (const Arithmetic& a : arithmetics)
            for (const ConvolutionPass pass : convolution_passes) {
                int depthwise = 0;
                for (std::size_t i = way++ % step; i < shapes.size(); i += step) {
                    ASSERT_NO_THROW(expect_taken(pass, shapes[i], a, gpu));
                    if (shapes[i].groups > 1 && shapes[i].groups == shapes[i].in_channels) ++depthwise;
                }
                EXPECT_GT(depthwise, 0) << a.name;
            }
}

// By 24 ways, so each of them.
TEST_F(ConvolutionChoice, RunsTheCatalogueOnAmpereAndHopper) { expect_catalogue_taken(16, {a100(), h200()}, {fp32, tf32, bf16, fp16}); }
TEST_F(ConvolutionChoice, RunsTheCatalogueOnPascalAndTuring) { expect_catalogue_taken(40, {gtx_1080_ti(), t4()}, {fp32, fp16}); }

// Depthwise ones by kernels that it compiles here, others by such as it brings along.
TEST_F(ConvolutionChoice, CompilesWhatItChose) {
    const ConvolutionShape depthwise{32, 96, 56, 56, 96, 28, 28, 3, 3, 2, 96, 1, 1, {}};
    for (const Descriptor& gpu : {a100(), h200()})
        for (const Arithmetic& a : {fp32, tf32, bf16, fp16})
            for (const ConvolutionPass pass : convolution_passes)
                for (ConvolutionShape s : {usual(a), depthwise}) {
                    s.element = a.element;
                    const ConvolutionConfig config = choose_convolution(pass, s, a.tf32, gpu);
                    EXPECT_EQ(room_of_plan(config), config.engines.front().workspace_bytes) << a.name;
                }
}

TEST_F(ConvolutionChoice, MultipliesFp32AsThePlanSays) {
    for (const Descriptor& gpu : {a100(), h200()})
        for (const ConvolutionPass pass : convolution_passes) {
            EXPECT_TRUE(has(choose_convolution(pass, usual(tf32), true, gpu).engines.front(), CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
            EXPECT_FALSE(some_have(choose_convolution(pass, usual(fp32), false, gpu).engines, CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
            for (const Arithmetic& half : {bf16, fp16})
                EXPECT_TRUE(has(choose_convolution(pass, usual(half), false, gpu).engines.front(), CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
        }
}

TEST_F(ConvolutionChoice, LeavesOutWhatDiffersFromTimeToTimeOrSumsInSixteenBits) {
    const auto left_out = [&](ConvolutionPass pass, const Arithmetic& a, cudnnBackendNumericalNote_t note) {
        return some_have(all_engines(pass, usual(a), a100()), note) &&
               !some_have(choose_convolution(pass, usual(a), a.tf32, a100()).engines, note);
    };
    EXPECT_TRUE(left_out(ConvolutionPass::back, tf32, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
    EXPECT_TRUE(left_out(ConvolutionPass::filter, fp32, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
    EXPECT_TRUE(left_out(ConvolutionPass::filter, fp16, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION));
}

// Copies of 512 images of 224 x 224 and 64 channels in fp32 are six times what there is room for.
TEST_F(ConvolutionChoice, KeepsToTheRoomThatThereIs) {
    const ConvolutionShape large{512, 64, 224, 224, 64, 224, 224, 3, 3, 1, 1, 1, 1, Element::real};
    for (const Arithmetic& a : {fp32, tf32})
        for (const ConvolutionPass pass : convolution_passes) expect_taken(pass, large, a, a100());
    const auto takes_more = [](const Engine& e) { return e.workspace_bytes > most_workspace_bytes; };
    EXPECT_TRUE(std::ranges::any_of(all_engines(ConvolutionPass::forward, large, a100()), takes_more));
}

// Of three samples of two channels, five rows of seven pixels: the channels of a pixel lie beside each other; pixels, rows, samples follow.
TEST_F(ConvolutionChoice, LaysChannelsLast) {
    const Layout images = Layout::channels_last({3, 2, 5, 7});
    EXPECT_EQ(images.extents, (Layout::Four{3, 2, 5, 7}));
    EXPECT_EQ(images.strides, (Layout::Four{5 * 7 * 2, 1, 7 * 2, 2}));
}

// The library compares the extents of its tensors with each other: so it was told the paddings, strides and groups that we mean, along the
// axes that we mean.
TEST_F(ConvolutionChoice, IsRefusedWhereExtentsDoNotBelongTogether) {
    const ConvolutionShape oblong{2, 24, 17, 23, 32, 9, 10, 1, 7, 2, 8, 0, 1, Element::real};
    const auto taken = [&](ConvolutionPass pass, auto change) {
        ConvolutionShape s = oblong;
        change(s);
        try {
            choose_convolution(pass, s, false, a100());
            return true;
        } catch (const BackendError&) {
            return false;
        }
    };
    for (const ConvolutionPass pass : convolution_passes) {
        EXPECT_TRUE(taken(pass, [](ConvolutionShape&) {}));
        EXPECT_FALSE(taken(pass, [](ConvolutionShape& s) { std::swap(s.padding_h, s.padding_w); }));
        EXPECT_FALSE(taken(pass, [](ConvolutionShape& s) { std::swap(s.kernel_h, s.kernel_w); }));
        EXPECT_FALSE(taken(pass, [](ConvolutionShape& s) { std::swap(s.in_h, s.in_w); }));
        EXPECT_FALSE(taken(pass, [](ConvolutionShape& s) { std::swap(s.out_h, s.out_w); }));
        EXPECT_FALSE(taken(pass, [](ConvolutionShape& s) { s.stride = 1; }));
        EXPECT_FALSE(taken(pass, [](ConvolutionShape& s) { s.groups = 6; })) << "32 filters in six groups";
        EXPECT_FALSE(taken(pass, [](ConvolutionShape& s) { s.dilation = 2; }));
    }
}

// Of another's tensors too it would be no convolution.
TEST_F(ConvolutionChoice, TellsTheThreeTensorsApart) {
    const Windows windows{{2, 2}, {0, 1}};
    const auto refused = [&](auto work) {
        OperationGraph g;
        const auto stored = [&](const Layout::Four& extents) { return g.stored(Layout::channels_last(extents), CUDNN_DATA_FLOAT); };
        const auto x = stored({2, 24, 17, 23}), filter = stored({32, 3, 1, 7}), y = stored({2, 32, 9, 10});
        try {
            work(g, x, filter, y);
            return g.engines(a100()).empty();
        } catch (const BackendError&) {
            return true;
        }
    };
    EXPECT_FALSE(refused([&](auto& g, auto& x, auto& filter, auto& y) { g.convolve(windows, x, filter, y); }));
    EXPECT_TRUE(refused([&](auto& g, auto& x, auto& filter, auto& y) { g.convolve(windows, y, filter, x); }));
    EXPECT_TRUE(refused([&](auto& g, auto& x, auto& filter, auto& y) { g.convolve(windows, filter, x, y); }));
    EXPECT_FALSE(refused([&](auto& g, auto& x, auto& filter, auto& y) { g.convolve_back(windows, filter, y, x); }));
    EXPECT_TRUE(refused([&](auto& g, auto& x, auto& filter, auto& y) { g.convolve_back(windows, filter, x, y); }));
    EXPECT_TRUE(refused([&](auto& g, auto& x, auto& filter, auto& y) { g.convolve_back(windows, y, filter, x); }));
    EXPECT_FALSE(refused([&](auto& g, auto& x, auto& filter, auto& y) { g.filter_gradient(windows, x, y, filter); }));
    EXPECT_TRUE(refused([&](auto& g, auto& x, auto& filter, auto& y) { g.filter_gradient(windows, y, x, filter); }));
    EXPECT_TRUE(refused([&](auto& g, auto& x, auto& filter, auto& y) { g.filter_gradient(windows, x, filter, y); }));
}

TEST_F(ConvolutionChoice, RefusesWhatAGpuHasNoArithmeticFor) {
    for (const ConvolutionPass pass : {ConvolutionPass::forward, ConvolutionPass::back}) {
        try {
            choose_convolution(pass, usual(bf16), false, t4());
            ADD_FAILURE() << "bf16 before Ampere";
        } catch (const BackendError& e) {
            EXPECT_THAT(e.what(), HasSubstr("of a convolution of 32 images of 56 x 56 and 64 channels by 128 filters of 3 x 3"));
        }
    }
}

TEST_F(ConvolutionChoice, IsKnownToTakeRoomBeforeItRuns) {
    Library library = open_library();
    const Scenario scenario = load_scenario(library, SEXTANT_SOURCE_DIR "/scenarios/resnet50-snellius-4xa100.json", {});
    const Network network = cut_network(scenario);
    for (const Arithmetic& a : {fp32, tf32, bf16, fp16}) {
        SCOPED_TRACE(a.name);
        std::size_t forward = 0, all = 0;
        bool is_first = true;
        for (const Convolution& c : convolutions_of(network)) {
            const auto room = [&](ConvolutionPass pass) {
                return room_of_plan(choose_convolution(pass, kernels::shape_of(c, a.element), a.tf32, a100()));
            };
            forward = std::max(forward, room(ConvolutionPass::forward));
            all = std::max({all, forward, room(ConvolutionPass::filter)});
            if (!std::exchange(is_first, false)) all = std::max(all, room(ConvolutionPass::back));
        }
        EXPECT_GT(all, 0U);
        EXPECT_EQ(convolution_workspace(network, a.element, a.tf32, true, a100()) / units::B, static_cast<double>(all));
        EXPECT_EQ(convolution_workspace(network, a.element, a.tf32, false, a100()) / units::B, static_cast<double>(forward));
    }
    const Network none = build_network(*find_workload("gpt3-175b"), {});
    EXPECT_EQ(convolution_workspace(none, Element::bf16, false, true, a100()) / units::B, 0);
}

// Nobody waits for the gradient of the data.
TEST_F(ConvolutionChoice, CountsNoGradientOfWhatArrivesAtTheFirstBlock) {
    const auto room = [&](ConvolutionPass pass, const Convolution& c) {
        return choose_convolution(pass, kernels::shape_of(c, Element::real), false, a100()).engines.front().workspace_bytes;
    };
    Network network = build_network(*find_workload("resnet50"), {.micro_batch = 32});
    network.templates.resize(1);
    network.sequence = {0};
    ASSERT_EQ(convolutions_of(network).size(), 1U);
    const Convolution stem = convolutions_of(network).front();
    const std::size_t without = std::max(room(ConvolutionPass::forward, stem), room(ConvolutionPass::filter, stem));
    ASSERT_GT(room(ConvolutionPass::back, stem), without);
    EXPECT_EQ(convolution_workspace(network, Element::real, false, true, a100()) / units::B, static_cast<double>(without));
    network.sequence = {0, 0};
    EXPECT_EQ(convolution_workspace(network, Element::real, false, true, a100()) / units::B,
              static_cast<double>(room(ConvolutionPass::back, stem)));
}

}  // namespace
}  // namespace sextant::cuda
