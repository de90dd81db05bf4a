#include "model/lower/lower.hpp"

#include "model/lower/rank_writer.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Steps of every worker where no two workers wait for each other: enough for their steps to drift apart.
constexpr int asynchronous_steps = 8;

std::vector<ComputeWork> stage_blocks(const Network& network, const Plan& plan) {
    std::vector<ComputeWork> stages;
    int first = 0;
    for (const int count : blocks_per_virtual_stage(network, plan)) {
        stages.push_back({Phase::forward, first, count});
        first += count;
    }
    return stages;
}

// What the last block of each virtual stage hands on.
std::vector<TransferWork> stage_boundaries(const Network& network, const LoweredJob& job) {
    std::vector<TransferWork> list;
    for (const ComputeWork& stage : job.virtual_stages) {
        const auto last = static_cast<std::size_t>(stage.first_block + stage.count - 1);
        const OperatorGraph& graph = network.templates[static_cast<std::size_t>(network.sequence[last])].graph;
        TransferWork transfer{Payload::activations, 0, job.precision.activation};
        for (const TensorId id : graph.outputs()) transfer.elements += graph.tensor(id).elements();
        if (scatters_boundaries(job.plan, job.framework)) transfer.elements /= job.plan.tp;
        list.push_back(transfer);
    }
    return list;
}

// The first layers of each stage run forward again, as many as the plan says.
std::vector<BlockInstance> block_instances(const Network& network, const Plan& plan, const std::vector<ComputeWork>& stages) {
    const std::vector<StageBlocks> split = split_stages(network, plan);
    const VirtualStages virtual_stages(plan);
    std::vector<BlockInstance> blocks;
    std::vector<int> layers(split.size(), 0);
    for (std::size_t v = 0; v < stages.size(); ++v) {
        const std::size_t stage = virtual_stages.stage_of(v);
        for (int b = stages[v].first_block; b < stages[v].first_block + stages[v].count; ++b) {
            const int t = network.sequence[static_cast<std::size_t>(b)];
            const bool layer = network.templates[static_cast<std::size_t>(t)].role == BlockRole::layer;
            blocks.push_back({t, layer && layers[stage]++ < split[stage].recomputed_layers});
        }
    }
    return blocks;
}

int steps_of(const Plan& plan) { return plan.is_asynchronous() ? asynchronous_steps : 1; }

// Before memory is asked for. Passes forward and backward, each with what may come with it; of parameter servers the gradients of each
// block alone, and the ways between them and the workers.
void check_size(const Scenario& scenario, Fold fold, std::size_t blocks) {
    const Plan& plan = scenario.plan;
    const double ranks = fold == Fold::alike ? plan.pp : plan.devices(), all_blocks = static_cast<double>(blocks);
    const auto micro_batches = static_cast<double>(plan.micro_batches());
    double passes = micro_batches * (plan.shards_parameters() ? all_blocks / plan.pp : plan.vpp), ways = 0;
    if (plan.has_servers()) {
        passes += all_blocks * (reduces_every_micro_batch(plan, scenario.framework) ? micro_batches : 1);
        ways = static_cast<double>(plan.dp) * parameter_server_count(scenario);
    }
    const double segments = 4 * (ranks * passes * steps_of(plan) + ways);
    constexpr double most = 2e7;
    if (segments <= most) return;
    throw InputError(Diagnostic{scenario.file, "/plan/global_batch",
                                std::to_string(plan.micro_batches()) + " micro-batches on " + std::to_string(plan.devices()) +
                                    " devices are too many to be played one by one",
                                "a smaller global_batch has the same rhythm; predict answers for any"});
}

// Every micro-batch enters a virtual stage when it has left the one before; backward the other way.
void connect(LoweredJob& job, const std::vector<Crossings>& crossings) {
    const VirtualStages& stages = job.where;
    const auto wait = [&](auto direction, GraphRank rank, std::size_t virtual_stage, std::size_t before) {
        const auto& here = crossings[rank].*direction;
        const auto& there = crossings[job.at_stage(static_cast<int>(stages.stage_of(before)), rank)].*direction;
        for (int i = 0; i < job.micro_batches; ++i) {
            const auto at = [&](std::size_t v) { return job.crossing(static_cast<int>(stages.chunk_of(v)), i); };
            job.builder.wait(here[at(virtual_stage)].first, there[at(before)].last);
        }
    };
    for (GraphRank rank = 0; rank < crossings.size(); ++rank) {
        const auto stage = static_cast<std::size_t>(job.builder.so_far().ranks()[rank].stage);
        for (std::size_t chunk = 0; chunk < static_cast<std::size_t>(job.plan.vpp); ++chunk) {
            const std::size_t v = stages.at(stage, chunk);
            if (stages.is_handed(v)) wait(&Crossings::forward, rank, v, v - 1);
            if (stages.hands_on(v) && !job.plan.forward_only) wait(&Crossings::backward, rank, v, v + 1);
        }
    }
}

}  // namespace

LoweredJob::LoweredJob(const Scenario& s, Fold f, const Network& network)
    : scenario(s),
      plan(s.plan),
      framework(s.framework),
      fold(f),
      precision(kept_precision(s.plan, s.framework)),
      layout(layout_of(s)),
      micro_batches(static_cast<int>(std::max<std::int64_t>(1, s.plan.micro_batches()))),
      orders(work_orders(s.plan.schedule, s.plan.pp, s.plan.vpp, micro_batches)),
      where(s.plan),
      virtual_stages(stage_blocks(network, s.plan)),
      boundaries(stage_boundaries(network, *this)),
      parameters(block_parameters(network, s.plan)),
      bucket_rule(sextant::bucket_rule(s.plan, s.framework, precision)),
      builder(network, block_instances(network, s.plan, virtual_stages)),
      input(input_pipeline(s)) {}

Fold possible_fold(const Scenario& s) {
    const bool alike = !(s.step_noise > 0) && !s.has_slow_devices() && !s.plan.is_asynchronous();
    return alike ? Fold::alike : Fold::nothing;
}

TaskGraph lower(const Scenario& scenario, Fold fold) {
    if (auto problems = check_plan(scenario); !problems.empty()) throw InputError(std::move(problems));
    const Network network = cut_network(scenario);
    check_size(scenario, fold, network.sequence.size());
    LoweredJob job(scenario, fold, network);
    add_ranks(job);
    add_feeds(job);
    const auto workers = static_cast<GraphRank>(job.builder.so_far().ranks().size());
    add_servers(job);
    job.builder.steps = steps_of(scenario.plan);
    std::vector<Crossings> crossings;
    for (GraphRank r = 0; r < workers; ++r) crossings.push_back(RankWriter(job, r).write());
    connect(job, crossings);
    connect_feeds(job);
    serve(job);
    return std::move(job.builder).build();
}

}  // namespace sextant
