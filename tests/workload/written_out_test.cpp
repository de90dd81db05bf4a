// A network that is written out for one sample is, repeated, what its builder makes of a micro-batch.
#include "model/io/workload/workload_writer.hpp"
#include "model/sextant.hpp"
#include "tests/base/refusal.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/io/read_back_workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Workload written_out(const Workload& workload, const Shard& shard = {}) {
    return {workload.name, workload.title, GraphSpec{build_network(workload, shard), {}}, workload.source};
}
Workload read_back(const std::string& name, const Shard& shard = {}) {
    return expect_reads_back(written_out(find_workload(name).value(), shard));
}

// Where each element of a copy comes from.
std::vector<std::int64_t> sources(const std::vector<CopyAxis>& order) {
    std::vector<std::int64_t> from{0};
    for (const CopyAxis& axis : order) {
        std::vector<std::int64_t> finer;
        for (const std::int64_t base : from)
            for (std::int64_t i = 0; i < axis.extent; ++i) finer.push_back(base + (i + axis.start) % axis.extent * axis.stride);
        from = std::move(finer);
    }
    return from;
}

// As text, in which tensors are numbered as they stand. Of copies the order is taken out, since axes may be joined or not; without backward
// nothing is kept.
std::string text_of(const Network& network, bool training, std::vector<std::vector<std::int64_t>>* copies = nullptr) {
    Network plain{{}, network.sequence};
    for (const Block& block : network.templates) {
        OperatorGraphBuilder graph;
        std::vector<TensorId> now(block.graph.tensors().size());
        const auto of = [&](TensorId id) -> const Tensor& { return block.graph.tensor(id); };
        for (const TensorId id : block.graph.inputs()) now[id.value] = graph.input(of(id).name, of(id).shape, of(id).role);
        for (Operator op : block.graph.operators()) {
            const std::vector<TensorId> outputs = op.outputs;
            for (TensorId& id : op.inputs) id = now[id.value];
            if (auto* p = std::get_if<Pointwise>(&op.kind); p != nullptr && !p->order.empty()) {
                if (copies != nullptr) copies->push_back(sources(p->order));
                p->order.clear();
            }
            now[outputs[0].value] = graph.add(std::move(op), of(outputs[0]).shape, of(outputs[0]).role);
            for (std::size_t i = 1; i < outputs.size(); ++i)
                now[outputs[i].value] = graph.also("beside " + std::to_string(i), of(outputs[i]).shape, of(outputs[i]).role);
        }
        for (const TensorId id : block.graph.outputs()) graph.output(now[id.value]);
        for (const TensorId id : block.graph.kept_for_writer())
            if (training) graph.keep_for_writer(now[id.value]);
        plain.templates.push_back({block.name, block.role, std::move(graph).build()});
    }
    return write_workload({"", "", GraphSpec{plain, {}}, ""});
}

class WrittenOut : public testing::TestWithParam<std::string> {};

TEST_P(WrittenOut, IsInAMicroBatchWhatItsBuilderMakes) {
    for (const bool flash : {true, false}) {
        const Workload workload = *find_workload(GetParam()), graph = read_back(GetParam(), {.flash_attention = flash});
        EXPECT_EQ(text_of(std::get<GraphSpec>(graph.spec).network, true),
                  text_of(build_network(workload, {.flash_attention = flash}), true));
        for (const bool training : {true, false}) {
            const Shard shard{.micro_batch = 4, .flash_attention = flash, .training = training};
            std::vector<std::vector<std::int64_t>> mine, wanted;
            EXPECT_EQ(text_of(build_network(graph, shard), training, &mine), text_of(build_network(workload, shard), training, &wanted));
            EXPECT_EQ(mine, wanted);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Networks, WrittenOut,
                         testing::Values("resnet50", "swin_tiny", "maxvit_t", "shufflenet_v2_x1_0", "gmlp_ti16_224", "inception_v3_aux",
                                         "convnext_tiny", "unet", "gpt2", "llama-3-8b", "bert-base", "bert-base-squad", "t5-small",
                                         "mixtral-8x7b", "mamba2-2.7b", "vit-b16", "alexnet", "deepseek-v3"));

// Rows of experts that are loaded unevenly are rounded up for each sample.
TEST(WrittenNetworks, UnevenExpertsHaveAtMostARowMoreForEachSample) {
    const Workload workload = *find_workload("deepseek-v2");
    const Network mine = build_network(written_out(workload), {.micro_batch = 4}), wanted = build_network(workload, {.micro_batch = 4});
    int compared = 0;
    for (std::size_t t = 0; t < wanted.templates.size(); ++t)
        for (std::size_t i = 0; i < wanted.templates[t].graph.operators().size(); ++i) {
            const auto* product = std::get_if<Gemm>(&wanted.templates[t].graph.operators()[i].kind);
            if (product == nullptr || product->batch == 1) continue;
            const std::int64_t more = std::get<Gemm>(mine.templates[t].graph.operators()[i].kind).m - product->m;
            EXPECT_GE(more, 0);
            EXPECT_LE(more, 4);
            ++compared;
        }
    EXPECT_EQ(compared, 2);
}

TEST(WrittenNetworks, WhatIsMadeOfTablesAloneAllSamplesShare) {
    OperatorGraphBuilder graph;
    const TensorId x = graph.input("x", {1, 16});
    const TensorId table = graph.add({.name = "table", .kind = Embedding{.tokens = 16, .rows = 16, .width = 1}, .parameters = 16}, {1, 16});
    const Pointwise function{.kind = PointwiseKind::gelu, .elements = 16}, sum{.kind = PointwiseKind::add, .elements = 16};
    const TensorId curved = graph.add({.name = "curve", .kind = function, .inputs = {table}}, {1, 16});
    graph.output(graph.add({.name = "sum", .kind = sum, .inputs = {x, curved}}, {1, 16}));
    const Workload workload{"", "", GraphSpec{{{{"", BlockRole::layer, std::move(graph).build()}}, {0}}, {}}, ""};
    const OperatorGraph many = build_network(workload, {.micro_batch = 4}).templates[0].graph;
    EXPECT_EQ(std::get<Embedding>(many.operators()[0].kind).tokens, 16);
    EXPECT_EQ(std::get<Pointwise>(many.operators()[1].kind).elements, 16);
    EXPECT_EQ(std::get<Pointwise>(many.operators()[2].kind).elements, 4 * 16);
    EXPECT_EQ(many.tensor(many.operators()[1].outputs[0]).shape, (std::vector<std::int64_t>{1, 16}));
    EXPECT_EQ(many.tensor(many.outputs()[0]).shape, (std::vector<std::int64_t>{4, 16}));
}

TEST(WrittenNetworks, AreNotCut) {
    const Workload gpt = written_out(*find_workload("gpt2"));
    EXPECT_THAT(refused_pointers([&] { return build_network(gpt, {.tensor = 2}); }), ElementsAre("/plan/tp"));
    EXPECT_THAT(refused_pointers([&] { return build_network(gpt, {.context = 2}); }), ElementsAre("/plan/cp"));
}

TEST(WrittenNetworks, ReadWhatTheirFirstBlockSays) {
    const Workload gpt = written_out(*find_workload("gpt2")), resnet = written_out(*find_workload("resnet50"));
    EXPECT_EQ(gpt.tokens_per_sample(), 1024);
    EXPECT_EQ(gpt.sample_word(), "sequence");
    EXPECT_EQ(resnet.tokens_per_sample(), 0);
    EXPECT_EQ(resnet.sample_word(), "image");
    EXPECT_EQ(written_out(*find_workload("t5-small")).tokens_per_sample(), find_workload("t5-small")->tokens_per_sample());
    const WorkloadSize size = size_of(gpt), wanted = size_of(*find_workload("gpt2"));
    EXPECT_EQ(size.parameters, wanted.parameters);
    EXPECT_EQ(size.forward, wanted.forward);
}

// The same job of both has the same time and memory.
struct Job {
    std::string scenario, workload;
    std::vector<std::string> plan;
};
void PrintTo(const Job& job, std::ostream* out) { *out << job.workload << " in " << job.scenario << testing::PrintToString(job.plan); }
class WrittenJobs : public testing::TestWithParam<Job> {};

TEST_P(WrittenJobs, TakeTheTimeAndMemoryOfTheNetworkWithAName) {
    std::vector<std::string> overrides = GetParam().plan;
    overrides.push_back("workload=" + GetParam().workload);
    Scenario scenario = bundled_scenario(GetParam().scenario, overrides);
    const Report named = predict(scenario);
    scenario.workload = read_back(GetParam().workload, {.flash_attention = scenario.plan.flash_attention});
    const Report written = predict(scenario);
    EXPECT_DOUBLE_EQ(written.estimate.step.si(), named.estimate.step.si());
    EXPECT_DOUBLE_EQ(written.estimate.peak_memory.si(), named.estimate.peak_memory.si());
    EXPECT_DOUBLE_EQ(simulate(scenario).report.estimate.step.si(), [&] {
        scenario.workload = *find_workload(GetParam().workload);
        return simulate(scenario).report.estimate.step.si();
    }());
}

std::vector<Job> jobs() {
    std::vector<Job> list;
    const std::string gpus = "llama-3-8b-fsdp-64xh100";
    for (const char* network : {"gpt2", "bert-base", "t5-small", "vit-b16", "resnet50", "swin_tiny", "unet"}) {
        list.push_back({gpus, network, {"plan.micro_batch=4", "plan.global_batch=256", "run={\"samples\": 1e6}"}});
        list.push_back({"default", network, {"plan.data_parallel=all_reduce"}});
        list.push_back({"default", network, {"plan.data_parallel=zero2", "plan.recompute=full"}});
        list.push_back({"default", network, {"plan.dp=1", "plan.pp=2", "plan.micro_batch=2"}});
        list.push_back({"default", network, {"plan.forward_only=true"}});
    }
    list.push_back({gpus, "mamba2-2.7b", {"plan.micro_batch=2", "plan.global_batch=128"}});
    list.push_back({gpus, "mixtral-8x7b", {"plan.micro_batch=2", "plan.global_batch=128"}});
    list.push_back({gpus, "nemotron-3-super-120b", {"plan.micro_batch=2", "plan.global_batch=128"}});
    list.push_back({"default", "gpt2", {"plan.recompute=selective"}});
    return list;
}
INSTANTIATE_TEST_SUITE_P(Plans, WrittenJobs, testing::ValuesIn(jobs()));

}  // namespace
}  // namespace sextant
