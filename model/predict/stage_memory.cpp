#include "model/predict/stage_memory.hpp"

#include "model/cost/kernel_rules.hpp"
#include "model/predict/block_price.hpp"
#include "model/predict/fragmentation.hpp"
#include "model/predict/gradient_memory.hpp"
#include "model/schedule/schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace sextant {
namespace {

// How many micro-batches' activations a stage holds for its first chunk, and for each other one; and for how many of them it has made
// again what recompute had dropped, which stays until the gradients of the weights are made from it.
struct InFlight {
    double first, others;
    double first_again = 0, others_again = 0;
    friend bool operator==(const InFlight&, const InFlight&) = default;
};
constexpr InFlight of_all_chunks(double micro_batches, double again = 0) { return {micro_batches, micro_batches, again, again}; }

int interleaved_warm_up(const Plan& plan, std::size_t stage) {
    return sextant::interleaved_warm_up(plan.pp, plan.vpp, static_cast<int>(stage));
}

// When the stage is fullest; where the pipeline turns back, that is at one of three times: two while micro-batches go both ways, and one
// at the end, when most gradients of weights wait.
std::array<InFlight, 3> in_flight(const Prepared::State& job, std::size_t stage) {
    const Plan& plan = job.scenario.plan;
    const double m = static_cast<double>(job.micro_batches), p = plan.pp, v = plan.vpp, s = static_cast<double>(stage);
    const auto once = [](InFlight all) { return std::array{all, all, all}; };
    const auto most = [m](double first, double others, double first_again, double others_again) {
        return InFlight{std::min(m, first), std::min(m, others), std::min(m, first_again), std::min(m, others_again)};
    };
    if (plan.forward_only) return once(of_all_chunks(1));
    switch (plan.schedule) {
        case Schedule::gpipe:
            return once(of_all_chunks(m));
        case Schedule::sequential:
            return once(of_all_chunks(1));
        case Schedule::one_f_one_b:
            return once(of_all_chunks(std::min(m, p - s)));
        case Schedule::zero_bubble:  // weight gradients come late: every stage holds as much as the first
            return once(of_all_chunks(std::min(m, p), std::min(m, s + 1)));
        case Schedule::zero_bubble_v:  // behind a forward of either chunk
            return {most(2 * p - s, s, 1, 0), most(2 * p - s - 1, s + 1, 0, 1), most(p, s, s + 1, s)};
        case Schedule::dual_pipe_v: {
            const double apart = std::floor((s + 1) / 2), at_first = s + 1 < p ? 1 : 0;  // backwards in parts: at the end, and at first
            return {most(2 * p - s, s + 1, 0, 0), most(2 * p - s - 1, s + 1, 0, at_first), most(p - apart, apart, s + 1 - apart, apart)};
        }
        case Schedule::interleaved:  // of all chunks together: most_interleaved() tells them apart
            return once(of_all_chunks(std::min(m * v, interleaved_warm_up(plan, stage) + 1.0) / v));
    }
    return once(of_all_chunks(1));
}

// What one block holds for one micro-batch: waiting_activations, offloaded_activations or made_again.
using BytesOfBlock = Bytes (*)(const BlockKernels&, const Prepared::State&, double recomputed);

// All blocks of a stage together.
Bytes sum_over_blocks(BytesOfBlock bytes_of, const Prepared::State& job, const StageBlocks& stage) {
    const double share = stage.layers > 0 ? static_cast<double>(stage.recomputed_layers) / stage.layers : 0;
    Bytes sum;
    for (std::size_t t = 0; t < stage.count.size(); ++t) {
        const bool layer = job.roles[t] == BlockRole::layer;
        if (stage.count[t] > 0) sum += stage.count[t] * bytes_of(job.templates[t], job, layer ? share : 0);
    }
    return sum;
}

// Those of one chunk of a stage.
Bytes sum_over_blocks(BytesOfBlock bytes_of, const Prepared::State& job, const StageBlocks& stage, const ChunkBlocks& chunk) {
    Bytes sum;
    for (const ChunkBlocks::Run& run : chunk.runs) {
        const BlockKernels& k = job.templates[static_cast<std::size_t>(run.first.block_template)];
        sum += run.count * bytes_of(k, job, static_cast<double>(run.recomputed(stage)) / run.count);
    }
    return sum;
}

// All blocks of a stage, for so many micro-batches of the first chunk and of each other one.
Bytes sum_in_flight(BytesOfBlock bytes_of, const Prepared::State& job, std::size_t stage, double of_first, double of_others) {
    const StageBlocks& all = job.stages[stage];
    if (of_first == of_others) return of_first * sum_over_blocks(bytes_of, job, all);
    const std::vector<ChunkBlocks>& chunks = job.chunks[stage];  // two: the pipeline turns back
    return of_first * sum_over_blocks(bytes_of, job, all, chunks[0]) + of_others * sum_over_blocks(bytes_of, job, all, chunks[1]);
}

// The most that an interleaved stage holds at a time. Chunks take turns: each forwards p micro-batches before the next one does, and the
// same way back from the last chunk on; after p v passes the turns begin again. Until either turn changes, every pass is like the one
// before: it adds what the chunk that goes forward holds, and frees what the chunk that goes back held. So only the first and the last of
// such passes can be the fullest, and the loop goes from change to change.
Bytes most_interleaved(BytesOfBlock bytes_of, const Prepared::State& job, std::size_t stage) {
    const Plan& plan = job.scenario.plan;
    std::vector<Bytes> chunks;
    for (const ChunkBlocks& chunk : job.chunks[stage]) chunks.push_back(sum_over_blocks(bytes_of, job, job.stages[stage], chunk));
    const int p = plan.pp, v = plan.vpp, warm_up = interleaved_warm_up(plan, stage);
    const int forwards = static_cast<int>(std::min<std::int64_t>(job.micro_batches * v, warm_up + p * v));
    Bytes held, most;
    for (int f = 0, alike = 0; f < forwards; f += alike) {
        const int b = f - warm_up;  // backwards so far
        alike = std::min({p - f % p, b < 0 ? -b : p - b % p, forwards - f});
        const Bytes added = chunks[static_cast<std::size_t>(f / p % v)];
        const Bytes freed = b < 0 ? Bytes{} : chunks[static_cast<std::size_t>(v - 1 - b / p % v)];
        most = max(most, held + added + max(Bytes{}, (alike - 1) * (added - freed)));
        held += alike * (added - freed);
    }
    return most;
}

// The bytes of a weight for products in FP8 or narrower, which read it along rows in forward and along columns in backward.
Bytes narrow_weight(const Prepared::State& job, DataType type) {
    const bool one_layout = job.scenario.plan.forward_only || (type == DataType::fp8 && job.scenario.cluster.node.device.fp8_any_layout);
    return (one_layout ? 1.0 : 2.0) * size_of(type);
}

// The bytes of all weights of a stage, `masters` of which are the optimizer's. Gathered weights are
// narrowed anew, unless the shards are narrow.
Bytes held_weights(const Prepared::State& job, const StageParameters& parameters, double masters) {
    const bool sharded = job.scenario.plan.shards_parameters();
    const auto held = [&](const ParameterCount& p) { return held_parameters(p, job.scenario.plan, sharded); };
    const Bytes wide = size_of(job.precision.parameter);
    const Bytes weights = held(parameters.trained + parameters.frozen) * wide + masters * (size_of(DataType::fp32) - wide);
    const DataType type = product_type(job.precision, BlockRole::layer);
    const NarrowWeights are = job.scenario.framework.narrow_weights;
    if (are == NarrowWeights::passing || !is_16_bit_or_wider(job.precision.parameter)) return weights;
    const Bytes narrow = held(parameters.narrowed) * narrow_weight(job, type);
    if (are == NarrowWeights::in_primary && type != DataType::nvfp4) return weights + narrow - held(parameters.narrowed) * wide;
    return sharded ? weights : weights + narrow;
}

// What is there from beginning to end.
StageMemory held_memory(const Prepared::State& job, std::size_t stage) {
    const Plan& plan = job.scenario.plan;
    const Framework& f = job.scenario.framework;
    const Precision& precision = job.precision;
    const StageParameters parameters = parameters_of(job, stage);
    const auto held = [&](bool sharded) { return held_parameters(parameters.trained, plan, sharded); };

    StageMemory memory;
    const bool masters = shards_are_masters(job) && !updates_on_host(plan);
    if (!plan.offloads_parameters())
        memory[MemoryKind::weights] = (1 - plan.pruned_fraction) * held_weights(job, parameters, masters ? held(true) : 0);
    if (!plan.forward_only) {
        memory[MemoryKind::gradients] = gradient_memory(job, stage, parameters.trained);
        const Bytes states = facts_of(plan.optimizer).states * size_of(precision.optimizer_state) +
                             (precision.master_weights && !masters ? size_of(DataType::fp32) : Bytes{});
        if (plan.updates_weights() && !updates_on_host(plan)) memory[MemoryKind::optimizer] = held(plan.has_shards()) * states;
    }
    if (plan.devices() > 1) memory[MemoryKind::communication] = f.communication_buffers.value;
    memory[MemoryKind::context] = f.context.value;
    return memory;
}

// Which weights come to a rank for the passes over their block: those of which it holds a part, and all that the host has.
struct GatheredKinds {
    static GatheredKinds under(const Plan& plan) {
        const bool fetches = plan.offloads_parameters(), gathers = plan.shards_parameters();
        return {fetches || (gathers && plan.shard_ranks() > 1), fetches || (gathers && plan.expert_replicas() > 1)};
    }
    [[nodiscard]] double of(const ParameterCount& p) const { return (dense ? p.dense : 0) + (expert ? p.expert : 0); }
    [[nodiscard]] Bytes of(const WeightsInUse& w) const { return dense && expert ? w.all : dense ? w.dense : expert ? w.expert : Bytes{}; }

    bool dense, expert;
};

// Parameters of the largest block and of those that are prefetched beside it. A matrix that several blocks of the stage use is gathered
// with the first of them, and stays beside others until the last has used it.
double parameters_in_use(const Prepared::State& job, const StageBlocks& blocks, GatheredKinds kinds) {
    const auto uses = [](const SharedCount& matrix) { return matrix.owned + matrix.tied > 0; };
    ParameterCount all;
    EnumArray<SharedMatrix, int, shared_matrix_count> users{};
    const auto each = [&](const auto& take) {
        for (std::size_t t = 0; t < job.templates.size(); ++t)
            if (blocks.count[t] > 0) take(job.templates[t].trained + job.templates[t].frozen, blocks.count[t]);
    };
    each([&](const ParameterCount& weights, int count) {
        all = all + weights;
        for (const SharedMatrix m : all_shared_matrices) users[m] += uses(weights.shared[m]) ? count : 0;
    });
    double largest = 0, others = 0, shared = 0;
    for (const SharedMatrix m : all_shared_matrices)
        if (kinds.dense && users[m] > 1) shared += std::max(all.shared[m].owned, all.shared[m].tied);
    each([&](const ParameterCount& weights, int) {
        double gathered = kinds.of(weights);
        for (const SharedMatrix m : all_shared_matrices)
            if (kinds.dense && !(all.shared[m].owned > 0)) gathered += weights.shared[m].tied;  // the stage's copy
        largest = std::max(largest, gathered);
        if (std::ranges::none_of(all_shared_matrices, [&](SharedMatrix m) { return uses(weights.shared[m]); }))
            others = std::max(others, gathered);
    });
    const double at_once = 1.0 + job.scenario.framework.prefetch_blocks;
    return std::max(at_once * largest, shared + at_once * others);
}

// Weights of blocks that are gathered, or fetched from the host, just before they are needed. Where they wait for backward those of the
// whole stage do, however many micro-batches read them meanwhile.
Bytes gathered_weights(const Prepared::State& job, std::size_t stage, const InFlightBytes& bytes) {
    const Plan& plan = job.scenario.plan;
    const GatheredKinds kinds = GatheredKinds::under(plan);
    const Bytes in_use = kinds.of(bytes.weights_in_use);
    if (gives_back_weights(plan, job.scenario.framework)) return in_use;
    const StageParameters all = parameters_of(job, stage);
    return max(in_use, (1 - plan.pruned_fraction) * kinds.of(all.trained + all.frozen) * size_of(job.precision.parameter));
}

// What blocks keep of their activations until backward, on the device or in host memory. Under selective recomputation the kernels of a
// block say what it keeps. Otherwise the fraction `recomputed` of the blocks keeps its input alone, and the others keep everything. (The
// caller chooses `recomputed`: blocks are priced both ways, whatever the plan says.)
Bytes kept_activations(const BlockKernels& k, const Plan& plan, double recomputed) {
    if (plan.forward_only) return {};
    return plan.recompute == Recompute::selective ? k.saved : recomputed * k.kept_input + (1 - recomputed) * k.saved;
}

// Of a forward in which nothing is kept; logits are counted by themselves.
Bytes alive_beside_logits(const BlockKernels& k, const Plan& plan) { return max(Bytes{}, k.alive - waiting_logits(k, plan)); }

}  // namespace

Bytes fragmentation(const Framework& framework, Bytes in_flight, Bytes held, Bytes device) {
    const Bytes unused = framework.fragmentation.value * in_flight, left = left_unused(unused, held + in_flight, device);
    return left < unused ? (1 - 1e-9) * left : unused;  // sums of parts round
}

Bytes offloaded_activations(const BlockKernels& k, const Prepared::State& job, double recomputed) {
    const Plan& plan = job.scenario.plan;
    const Bytes kept = kept_activations(k, plan, recomputed);
    switch (plan.offload_activations) {
        case OffloadActivations::none:
            break;
        case OffloadActivations::residuals:
            return min(2.0 * k.kept_input, kept);
        case OffloadActivations::layers: {
            int layers = 0;
            for (const StageBlocks& stage : job.stages) layers += stage.layers;
            return std::min(1.0, static_cast<double>(plan.offloaded_layers) * plan.pp / std::max(1, layers)) * kept;
        }
        case OffloadActivations::all:
            return kept;
    }
    return {};
}

Bytes offloaded_activations(const Prepared::State& job, std::size_t stage) {
    return sum_in_flight(offloaded_activations, job, stage, 1, 1);
}

Bytes waiting_activations(const BlockKernels& k, const Prepared::State& job, double recomputed) {
    return kept_activations(k, job.scenario.plan, recomputed) - offloaded_activations(k, job, recomputed);
}

Bytes made_again(const BlockKernels& k, const Prepared::State& job, double recomputed) {
    if (job.scenario.plan.recompute == Recompute::selective) return {};
    return recomputed * max(Bytes{}, k.saved - k.kept_input);
}

Bytes waiting_logits(const BlockKernels& k, const Plan& plan) {
    return plan.schedule == Schedule::gpipe ? k.saved_logits : k.saved_logits / plan.head_chunks;
}

Bytes working_memory(const BlockKernels& k, const Prepared::State& job, bool recomputed) {
    const Plan& plan = job.scenario.plan;
    Bytes working;
    if (plan.recompute == Recompute::selective)
        working = k.dropped;
    else if (recomputed)
        working = k.working;
    // While one block works on what it keeps, what the next one keeps is on its way to or from host memory.
    working += 2.0 * offloaded_activations(k, job, recomputed ? 1 : 0);
    return max(working, plan.forward_only ? alive_beside_logits(k, plan) : k.logits_gradient / plan.head_chunks);
}

namespace {

// What the block needs that needs most.
Bytes working_memory(const Prepared::State& job, std::size_t stage) {
    const StageBlocks& blocks = job.stages[stage];
    Bytes most;
    for (std::size_t t = 0; t < job.templates.size(); ++t) {
        if (blocks.count[t] == 0) continue;
        const BlockKernels& k = job.templates[t];
        const bool again = job.roles[t] == BlockRole::layer && blocks.recomputed_layers > 0;
        most = max(most, working_memory(k, job, again));
        // The others of the stage keep everything: of what is offloaded more is on its way.
        if (again && blocks.recomputed_layers < blocks.layers) most = max(most, working_memory(k, job, false));
    }
    return most;
}

// What the fullest block has alive in a forward alone, scores of plain attention over long sequences, say: a step holds no less.
Bytes alive_in_forward(const Prepared::State& job, std::size_t stage) {
    Bytes most;
    for (std::size_t t = 0; t < job.templates.size(); ++t)
        if (job.stages[stage].count[t] > 0) most = max(most, alive_beside_logits(job.templates[t], job.scenario.plan));
    return most;
}

// `flight`: the micro-batches that the chunk of the head has in flight. Where backward follows at once, the logits of only one of them are
// alive. Where gradients of weights are made apart, those of the logits wait for them.
Bytes waiting_logits(const Prepared::State& job, std::size_t stage, double flight) {
    const Plan& plan = job.scenario.plan;
    const bool waits = plan.schedule == Schedule::gpipe || weights_apart(plan.schedule) == WeightsApart::in_all;
    Bytes logits;
    for (std::size_t t = 0; t < job.templates.size(); ++t)
        if (const double n = job.stages[stage].count[t]; n > 0)
            logits += n * (waits ? flight : 1.0) * waiting_logits(job.templates[t], plan);
    return logits;
}

}  // namespace

InFlightBytes in_flight_bytes(const Prepared::State& job, std::size_t stage) {
    const Plan& plan = job.scenario.plan;
    const std::array<InFlight, 3> times = in_flight(job, stage);
    const auto most = [&](BytesOfBlock bytes_of, BytesOfBlock again) {
        if (plan.schedule == Schedule::interleaved && !plan.forward_only) return most_interleaved(bytes_of, job, stage);
        Bytes all;
        for (std::size_t i = 0; i < times.size(); ++i) {
            const InFlight& t = times[i];
            if (i > 0 && t == times[i - 1]) continue;
            Bytes here = sum_in_flight(bytes_of, job, stage, t.first, t.others);
            if (again != nullptr) here += sum_in_flight(again, job, stage, t.first_again, t.others_again);
            all = max(all, here);
        }
        return all;
    };
    const Bytes waiting = most(waiting_activations, job.stages[stage].recomputed_layers > 0 ? made_again : nullptr);
    InFlightBytes bytes;
    bytes.activations = max(waiting + working_memory(job, stage), alive_in_forward(job, stage));
    bytes.logits = waiting_logits(job, stage, std::ranges::max(times, {}, &InFlight::others).others);
    if (plan.offload_activations != OffloadActivations::none) bytes.offloaded = most(offloaded_activations, nullptr);
    const auto in_use = [&](GatheredKinds kinds) {
        return (1 - plan.pruned_fraction) * parameters_in_use(job, job.stages[stage], kinds) * size_of(job.precision.parameter);
    };
    bytes.weights_in_use = {in_use({true, false}), in_use({false, true}), in_use({true, true})};
    return bytes;
}

std::vector<StageMemory> stage_memory(const Prepared::State& job) {
    std::vector<StageMemory> stages;
    stages.reserve(job.stages.size());
    for (std::size_t s = 0; s < job.stages.size(); ++s) {
        StageMemory& memory = stages.emplace_back(held_memory(job, s));
        const Bytes held = memory.total();
        const InFlightBytes bytes = in_flight_bytes(job, s);
        memory[MemoryKind::activations] = bytes.activations;
        memory[MemoryKind::logits] = bytes.logits;
        memory[MemoryKind::gathered_weights] = gathered_weights(job, s, bytes);
        const Bytes all = bytes.activations + bytes.logits + memory[MemoryKind::gathered_weights];
        memory[MemoryKind::fragmentation] = fragmentation(job.scenario.framework, all, held, device_memory(job));
    }
    return stages;
}

Bytes held_bytes(const Prepared::State& job, std::size_t stage) { return held_memory(job, stage).total(); }
Bytes peak_bytes(const Prepared::State& job, std::size_t stage, Bytes held, const InFlightBytes& bytes) {
    const Bytes all = bytes.activations + bytes.logits + gathered_weights(job, stage, bytes);
    return held + all + fragmentation(job.scenario.framework, all, held, device_memory(job));
}

Bytes host_states(const Prepared::State& job, std::size_t stage) {
    const Plan& plan = job.scenario.plan;
    if (plan.offload == Offload::none) return {};
    const StageParameters p = parameters_of(job, stage);
    Bytes states;
    if (plan.offloads_parameters()) states += weight_bytes(job, held_parameters(p.trained + p.frozen, plan, plan.shards_parameters()));
    if (!updates_on_host(plan)) return states;
    // What the host holds for a parameter: a gradient, the weight that it updates (the fp32 master where there is one) unless the weight
    // that devices read is there and is the same, and its states.
    const Bytes wide = size_of(job.precision.parameter), updated = job.precision.master_weights ? size_of(DataType::fp32) : wide;
    const bool weight_is_there = plan.offloads_parameters() && updated == wide;
    Bytes each = (weight_is_there ? 1 : 2) * updated + facts_of(plan.optimizer).states * size_of(job.precision.optimizer_state);
    if (keeps_sum_on_host(plan, job.scenario.framework, job.micro_batches)) each += size_of(job.precision.gradient_type());
    return states + held_parameters(p.trained, plan, plan.has_shards()) * each;
}

HostMemory host_memory(const Prepared::State& job) {
    HostMemory most{{}, {}, job.scenario.cluster.node.host.memory.value};
    for (std::size_t s = 0; s < job.stages.size(); ++s) {
        const HostMemory of_stage{job.used_devices() * host_states(job, s), job.used_devices() * in_flight_bytes(job, s).offloaded,
                                  most.there};
        if (of_stage.total() > most.total()) most = of_stage;
    }
    return most;
}

// The smaller of two kinds of devices, since any rank may be on one.
Bytes device_memory(const Prepared::State& job) {
    const Bytes usual = memory_for_programs(job.scenario.cluster.node.device);
    const auto& slow = job.scenario.straggler;
    return slow && slow->device ? min(usual, memory_for_programs(*slow->device)) : usual;
}

}  // namespace sextant
