#include "model/io/trace/profiler_reader.hpp"
#include "model/io/report/profiler_comparison_writer.hpp"
#include "model/io/trace/trace_check.hpp"
#include "model/report/trace_terms.hpp"
#include "model/sextant.hpp"
#include "tests/base/refusal.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace sextant {
namespace {

using namespace units;
using testing::HasSubstr;

// A profile in the making. Times in microseconds.
class Profile {
public:
    Profile& host(const std::string& name, int thread, double start, double end, const char* category = "cpu_op") {
        return event({{"cat", category}, {"name", name}, {"pid", 1}, {"tid", thread}}, start, end);
    }
    Profile& step(int number, double start, double end) {
        return host("ProfilerStep#" + std::to_string(number), 1, start, end, "user_annotation");
    }
    // Launched at `at` by a thread, running from `start` to `end`.
    Profile& kernel(const std::string& name, int thread, double at, int stream, double start, double end, const std::string& group = {}) {
        nlohmann::json args = {{"correlation", ++last_}, {"stream", stream}, {"Process Group Description", group}};
        event({{"cat", "cuda_runtime"}, {"name", "cudaLaunchKernel"}, {"pid", 1}, {"tid", thread}, {"args", args}}, at, at + 1);
        const char* category = name.starts_with("Memcpy") ? "gpu_memcpy" : "kernel";
        return event({{"cat", category}, {"name", name}, {"pid", 0}, {"tid", stream}, {"args", args}}, start, end);
    }
    Profile& ranks(int rank, int ranks) {
        document_["distributedInfo"] = {{"rank", rank}, {"world_size", ranks}};
        return *this;
    }
    [[nodiscard]] std::string text() const { return document_.dump(); }
    [[nodiscard]] ProfilerRecord read(const Plan& plan = {}) const { return profiler_from_text(text(), "profile.json", plan); }

private:
    Profile& event(nlohmann::json e, double start, double end) {
        e["ph"] = "X", e["ts"] = start, e["dur"] = end - start;
        document_["traceEvents"].push_back(std::move(e));
        return *this;
    }

    nlohmann::json document_ = {{"deviceProperties", {{{"name", "NVIDIA A100"}}}}, {"traceEvents", nlohmann::json::array()}};
    int last_ = 0;
};

constexpr int python = 1, autograd = 2;     // threads
constexpr int kernels = 7, exchanges = 20;  // streams of the device

// Forward 10 us, backward 20, whose gradients are reduced for 12 us from its 15th on, optimizer 5.
void add_step(Profile& p, int number, double at) {
    p.step(number, at, at + 100);
    p.kernel("forward", python, at + 5, kernels, at + 10, at + 20);
    p.host("autograd::engine::evaluate_function: MmBackward0", autograd, at + 15, at + 40);
    p.kernel("backward", autograd, at + 16, kernels, at + 20, at + 40);
    p.kernel("ncclDevKernel_AllReduce_Sum_f32", autograd, at + 17, exchanges, at + 35, at + 47);
    p.host("Optimizer.step#AdamW.step", python, at + 45, at + 60, "user_annotation");
    p.kernel("multi_tensor_apply", python, at + 48, kernels, at + 50, at + 55);
}

double us_of(Seconds s) { return s / us; }

TEST(ProfilerReader, GivesAKernelThePhaseInWhichItWasLaunched) {
    Profile p;
    for (int i = 0; i < 3; ++i) add_step(p, i, 100 * i);
    const ProfilerRecord record = p.ranks(1, 2).read();
    EXPECT_EQ(record.device, "NVIDIA A100");
    EXPECT_EQ(record.rank, 1);
    EXPECT_EQ(record.ranks, 2);
    ASSERT_EQ(record.steps.size(), 2U);  // nobody knows when the third ends
    EXPECT_NEAR(us_of(record.steps[0]), 100, 1e-9);
    const Terms terms = terms_of(record.trace, 0), hidden = overlapped_of(record.trace, 0);
    EXPECT_NEAR(us_of(terms[Term::forward]), 10, 1e-9);
    EXPECT_NEAR(us_of(terms[Term::backward]), 20, 1e-9);
    EXPECT_NEAR(us_of(terms[Term::optimizer]), 5, 1e-9);
    EXPECT_NEAR(us_of(terms[Term::data_communication]), 7, 1e-9);  // after the last kernel of backward
    EXPECT_NEAR(us_of(hidden[Term::data_communication]), 5, 1e-9);
    EXPECT_NEAR(us_of(terms[Term::launch]), 3 + 55, 1e-9);  // before the optimizer, and from it to the next step
    EXPECT_NEAR(us_of(terms.total()), 100, 1e-9);
    Diagnostics diagnostics;
    check_trace(record.trace, "profile.json", diagnostics);
    EXPECT_TRUE(diagnostics.empty());
}

TEST(ProfilerReader, TakesTheStepOfMedianTime) {
    Profile p;
    const double starts[] = {0, 100, 300, 420, 1000};
    for (int i = 0; i < 5; ++i) add_step(p, i, starts[i]);
    const ProfilerRecord record = p.read();
    ASSERT_EQ(record.steps.size(), 4U);  // 100, 200, 120, 580
    EXPECT_EQ(record.traced_step, 2);
    EXPECT_NEAR(us_of(record.trace.end), 120, 1e-9);
}

TEST(ProfilerReader, OfOneStepAloneTakesWhatItsKernelsTake) {
    Profile p;
    add_step(p, 0, 0);
    EXPECT_NEAR(us_of(p.read().steps.at(0)), 45, 1e-9);
}

TEST(ProfilerReader, HandsOnNoNameThatATerminalWouldObey) {
    Profile p;
    p.step(0, 0, 100);
    p.kernel("\x1b[2Jforward", python, 1, kernels, 2, 10);
    EXPECT_THAT(p.read().trace.names, testing::Contains("?[2Jforward"));
}

TEST(ProfilerReader, TellsTheForwardOfACheckpointFromTheBackwardInside) {
    Profile p;
    p.step(0, 0, 100);
    p.host("autograd::engine::evaluate_function: CheckpointFunctionBackward", autograd, 10, 60);
    p.host("CheckpointFunctionBackward", autograd, 11, 59);
    p.kernel("again", autograd, 12, kernels, 20, 30);
    p.host("autograd::engine::evaluate_function: MmBackward0", autograd, 30, 50);
    p.kernel("backward", autograd, 31, kernels, 35, 55);
    p.kernel("rest", autograd, 55, kernels, 56, 60);
    const Terms terms = terms_of(p.read().trace, 0);
    EXPECT_NEAR(us_of(terms[Term::recompute]), 10 + 4, 1e-9);
    EXPECT_NEAR(us_of(terms[Term::backward]), 20, 1e-9);
}

TEST(ProfilerReader, CallsTheWaitForSamplesInput) {
    Profile p;
    p.step(0, 0, 100);
    p.kernel("forward", python, 1, kernels, 2, 10);
    p.host("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", python, 5, 30, "user_annotation");
    p.kernel("Memcpy HtoD (Pageable -> Device)", python, 31, kernels, 33, 36);
    p.kernel("forward", python, 32, kernels, 36, 46);
    const Terms terms = terms_of(p.read().trace, 0);
    EXPECT_NEAR(us_of(terms[Term::input]), 20 + 3, 1e-9);  // from the end of the kernel, and the copy
    EXPECT_NEAR(us_of(terms[Term::launch]), 3, 1e-9);
    EXPECT_NEAR(us_of(terms[Term::forward]), 18, 1e-9);
}

TEST(ProfilerReader, NamesExchangesByTheirGroupAndElseByThePlan) {
    const auto kind = [](const std::string& kernel, const std::string& group, const Plan& plan) {
        Profile p;
        p.step(0, 0, 100).kernel("forward", python, 1, kernels, 2, 10).kernel(kernel, python, 3, exchanges, 12, 20, group);
        const ProfilerRecord record = p.read(plan);
        return record.trace.spans.back().kind;
    };
    constexpr auto all_reduce = "ncclDevKernel_AllReduce_Sum_bf16", messages = "ncclDevKernel_SendRecv";
    Plan tensor, pipeline, hybrid;
    tensor.tp = pipeline.pp = 2;
    hybrid.dp = hybrid.tp = 2;
    EXPECT_EQ(kind(all_reduce, "TENSOR_MODEL_PARALLEL_GROUP", hybrid), SpanKind::tensor_exchange);
    EXPECT_EQ(kind(all_reduce, "DATA_PARALLEL_GROUP_WITH_CP", hybrid), SpanKind::data_exchange);
    EXPECT_EQ(kind(messages, "EXPERT_MODEL_PARALLEL_GROUP", pipeline), SpanKind::expert_exchange);
    for (const char* group : {"EXPERT_DATA_PARALLEL_GROUP", "INTRA_PARTIAL_EXPERT_DATA_PARALLEL_GROUP", "mesh_fsdp", "mesh_efsdp"})
        EXPECT_EQ(kind(all_reduce, group, hybrid), SpanKind::data_exchange) << group;
    EXPECT_EQ(kind(all_reduce, "", hybrid), SpanKind::tensor_exchange);  // in forward no gradients are summed
    EXPECT_EQ(kind(all_reduce, "", tensor), SpanKind::tensor_exchange);
    EXPECT_EQ(kind(messages, "", pipeline), SpanKind::pipeline_transfer);
    EXPECT_EQ(kind(all_reduce, "default_pg", {}), SpanKind::data_exchange);
}

TEST(ProfilerReader, OfExchangesOneBehindTheOtherTakesNoneForAWait) {
    for (const int count : {1, 2, 8}) {
        Profile p;
        p.step(0, 0, 100).kernel("forward", python, 1, kernels, 2, 10);
        for (int i = 0; i < count; ++i)
            p.kernel("ncclDevKernel_AllReduce_Sum_f32", python, 3, exchanges, 10 + 16.0 / count * i, 10 + 16.0 / count * (i + 1));
        p.kernel("optimizer", python, 4, kernels, 26, 30);
        const Trace trace = p.read().trace;
        EXPECT_NEAR(us_of(terms_of(trace, 0)[Term::data_communication]), 16, 1e-9) << count;
        EXPECT_NEAR(us_of(terms_of(trace, 0)[Term::straggler]), 0, 1e-9) << count;
        EXPECT_NEAR(us_of(overlapped_of(trace, 0)[Term::data_communication]), 0, 1e-9) << count;
    }
}

TEST(ProfilerReader, SaysWhatAProfileLacks) {
    const auto refusal = [](const std::string& text) { return refusal_by([&] { return profiler_from_text(text, "profile.json", {}); }); };
    Profile whole, steps, work, late;
    add_step(whole, 0, 0);
    steps.step(0, 0, 100);
    work.kernel("forward", python, 1, kernels, 2, 10);
    late.step(0, 0, 100).kernel("forward", python, 1, kernels, 1e17, 2e17);
    EXPECT_EQ(refusal(whole.text()), "");
    EXPECT_THAT(refusal(whole.text().substr(0, 300)), HasSubstr("is no JSON, or was cut off"));
    EXPECT_THAT(refusal("[]"), HasSubstr("is no JSON, or was cut off"));
    EXPECT_THAT(refusal(steps.text()), HasSubstr("no kernels of a GPU"));
    EXPECT_THAT(refusal(work.text()), HasSubstr("where steps begin"));
    EXPECT_THAT(refusal(late.text()), HasSubstr("285 years"));
    EXPECT_THAT(refusal(Profile().step(0, 0, 100).kernel("forward", python, 1, kernels, 10, 2).text()), HasSubstr("end before they begin"));
    EXPECT_THAT(refusal(Profile().ranks(-3, 8).step(0, 0, 100).kernel("forward", python, 1, kernels, 2, 10).text()),
                HasSubstr("rank -3 of 8"));
    EXPECT_THAT(refusal(R"({"traceEvents": [1, "x", {"ph": "X", "ts": "soon"}, {"ph": 3}], "distributedInfo": 7})"),
                HasSubstr("no kernels"));
}

TEST(ProfilerReader, ReadsWhatGzipPacked) {
    const std::string text = Profile().step(1, 0, 100).kernel("gemm", 1, 10, 7, 20, 90).text();
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "sextant_profile.json.gz";
    const gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    EXPECT_TRUE(looks_like_profiler(path));
    EXPECT_EQ(load_profiler(path, {}).steps, profiler_from_text(text, "profile.json", {}).steps);

    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    EXPECT_THAT(refusal_by([&] { return load_profiler(path, {}); }), HasSubstr("damaged or cut off"));
    std::filesystem::remove(path);
}

TEST(ProfilerComparison, StandsBesideThePredictionAndNamesWhereTheyPart) {
    Profile p;
    for (int i = 0; i < 3; ++i) add_step(p, i, 100 * i);
    const Scenario scenario = bundled_scenario("resnet50-snellius-4xa100", {"plan.dp=2"});
    const ProfilerComparison c = compare(scenario, p.ranks(0, 2).read(scenario.plan));
    EXPECT_DOUBLE_EQ(c.predicted.total().si(), c.predicted_step.si());
    EXPECT_NEAR(us_of(c.steps.median), 100, 1e-9);
    EXPECT_EQ(c.largest, Term::backward);  // a ResNet's, against 20 us
    ASSERT_EQ(c.kernels.size(), 4U);
    EXPECT_EQ(c.kernels.front().name, "backward");
    EXPECT_EQ(c.kernels.front().calls, 1);
    EXPECT_TRUE(holds(parse_condition("step_time_ratio < 1 %"), named_quantities(c)));
    const auto json = nlohmann::json::parse(profiler_comparison_to_json(c));
    EXPECT_EQ(json.at("schema"), "profiler-comparison/1");
    EXPECT_NEAR(json.at("step_time").at("measured_s").get<double>(), 1e-4, 1e-12);
    EXPECT_THAT(profiler_comparison_to_text(c), HasSubstr("ncclDevKernel_AllReduce_Sum_f32"));
}

TEST(ProfilerComparison, RefusesAJobOfAnotherSize) {
    Profile p;
    add_step(p, 0, 0);
    const Scenario scenario = bundled_scenario("resnet50-snellius-4xa100", {});
    EXPECT_THROW(compare(scenario, p.ranks(0, 2).read(scenario.plan)), InputError);
}

}  // namespace
}  // namespace sextant
