#include "model/predict/memory_in_flight.hpp"

#include "model/predict/block_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sextant {
namespace {

// What one block holds for one micro-batch: waiting_activations, offloaded_activations or regained_activations.
using BytesOfBlock = Bytes (*)(const BlockKernels&, const Prepared::State&, bool recomputed);

// Those of one chunk of a stage.
Bytes sum_over_blocks(BytesOfBlock bytes_of, const Prepared::State& job, const StageBlocks& stage, const ChunkBlocks& chunk) {
    Bytes sum;
    for (const ChunkBlocks::Run& run : chunk.runs) {
        const BlockKernels& k = job.templates[static_cast<std::size_t>(run.first.block_template)];
        const int recomputed = run.recomputed(stage);
        if (recomputed > 0) sum += recomputed * bytes_of(k, job, true);
        if (recomputed < run.count) sum += (run.count - recomputed) * bytes_of(k, job, false);
    }
    return sum;
}

// All blocks of a stage.
Bytes sum_over_blocks(BytesOfBlock bytes_of, const Prepared::State& job, std::size_t stage) {
    Bytes sum;
    for (const ChunkBlocks& chunk : job.chunks[stage]) sum += sum_over_blocks(bytes_of, job, job.stages[stage], chunk);
    return sum;
}

// What the blocks of a chunk need in backward beside all that waits.
Bytes working_memory(const Prepared::State& job, const StageBlocks& stage, const ChunkBlocks& chunk, bool inputs_alone) {
    PassMemory pass(job, inputs_alone);
    for (auto run = chunk.runs.rbegin(); run != chunk.runs.rend(); ++run) {
        const BlockKernels& k = job.templates[static_cast<std::size_t>(run->first.block_template)];
        const int recomputed = run->recomputed(stage);  // the first ones
        pass.add(k, false, run->count - recomputed);
        pass.add(k, true, recomputed);
    }
    return pass.working();
}

// Where activations wait: only on the device do blocks work.
enum class Where { device, host };
BytesOfBlock waiting_in(Where where) {
    if (where == Where::host) return offloaded_activations;
    return waiting_activations;
}

// A stage at its fullest moment.
struct Fullest {
    Bytes waiting, working;   // what waits there, and what the block at work needs beside it
    Bytes halfway;            // of what waits, what came back for the gradients of the inputs
    std::int64_t logits = 1;  // at some time: micro-batches that the last chunk has gone forward with and not back
    void take(Bytes here, Bytes regained, Bytes at_work) {
        if (here + at_work > waiting + working) waiting = here, working = at_work, halfway = regained;
    }
};

// Where a stage goes forward as often as it can before it goes back.
Fullest fullest_of_whole_passes(Where where, std::int64_t micro_batches, const Prepared::State& job, std::size_t stage) {
    Fullest most;
    most.waiting = static_cast<double>(micro_batches) * sum_over_blocks(waiting_in(where), job, stage);
    most.logits = micro_batches;
    if (where == Where::host) return most;
    for (const ChunkBlocks& chunk : job.chunks[stage])
        most.working = max(most.working, working_memory(job, job.stages[stage], chunk, false));
    return most;
}

// Where chunks take turns, or gradients of weights come late, the order of work says what is there. What comes back for the gradients of
// the inputs stays until those of the weights are made from it.
Fullest fullest_of_order(Where where, const Prepared::State& job, std::size_t stage, KnownMoments& known) {
    struct Chunk {
        Bytes waiting, regained, working, working_on_inputs;
    };
    const Plan& plan = job.scenario.plan;
    const StageBlocks& blocks = job.stages[stage];
    std::vector<Chunk> chunks;
    for (const ChunkBlocks& chunk : job.chunks[stage]) {
        Chunk& c = chunks.emplace_back(Chunk{sum_over_blocks(waiting_in(where), job, blocks, chunk), {}, {}, {}});
        if (where == Where::host) continue;
        c.regained = sum_over_blocks(regained_activations, job, blocks, chunk);
        c.working = working_memory(job, blocks, chunk, false);
        c.working_on_inputs = working_memory(job, blocks, chunk, true);
    }
    const FullestMoments& of_order = known.of(plan.schedule, static_cast<int>(stage), plan.pp, plan.vpp, job.micro_batches);
    Fullest most;
    most.logits = of_order.waiting_in_last_chunk;
    for (const StageMoment& m : of_order.moments) {
        Bytes here, regained;
        for (std::size_t c = 0; c < chunks.size(); ++c) {
            const Bytes of_chunk = m.halfway[c] * chunks[c].regained;
            here += m.waiting[c] * chunks[c].waiting + of_chunk;
            regained += of_chunk;
        }
        const Chunk& chunk = chunks[m.chunk];
        const Bytes back = m.work == WorkKind::backward ? chunk.working : chunk.working_on_inputs;
        most.take(here, regained, m.work == WorkKind::forward ? Bytes{} : back);
    }
    return most;
}

Fullest fullest(Where where, const Prepared::State& job, std::size_t stage, KnownMoments& known) {
    const Plan& plan = job.scenario.plan;
    if (plan.forward_only) return fullest_of_whole_passes(where, 1, job, stage);
    switch (plan.schedule) {
        case Schedule::gpipe: return fullest_of_whole_passes(where, job.micro_batches, job, stage);
        case Schedule::one_f_one_b:
            return fullest_of_whole_passes(where, std::min<std::int64_t>(job.micro_batches, plan.pp - static_cast<int>(stage)), job, stage);
        case Schedule::sequential: break;
        case Schedule::interleaved:
        case Schedule::zero_bubble:
        case Schedule::zero_bubble_v:
        case Schedule::dual_pipe_v: return fullest_of_order(where, job, stage, known);
    }
    return fullest_of_whole_passes(where, 1, job, stage);
}

// What the fullest block has alive in a forward alone, scores of plain attention over long sequences, say: a step holds no less.
Bytes alive_in_forward(const Prepared::State& job, std::size_t stage) {
    Bytes most;
    for (std::size_t t = 0; t < job.templates.size(); ++t)
        if (job.stages[stage].count[t] > 0) most = max(most, alive_beside_logits(job.templates[t], job.scenario.plan));
    return most;
}

// Where backward follows at once, the logits of only one micro-batch are alive; where gradients of weights are made apart, those of all
// that wait for them.
Bytes waiting_logits(const Prepared::State& job, std::size_t stage, std::int64_t in_flight) {
    const Plan& plan = job.scenario.plan;
    const bool waits = plan.schedule == Schedule::gpipe || weights_apart(plan.schedule) == WeightsApart::in_all;
    Bytes logits;
    for (std::size_t t = 0; t < job.templates.size(); ++t)
        if (const double n = job.stages[stage].count[t]; n > 0)
            logits += n * (waits ? static_cast<double>(in_flight) : 1.0) * waiting_logits(job.templates[t], plan);
    return logits;
}

}  // namespace

Bytes waiting_activations(const Prepared::State& job, std::size_t stage) { return sum_over_blocks(waiting_activations, job, stage); }

Bytes offloaded_activations(const Prepared::State& job, std::size_t stage) { return sum_over_blocks(offloaded_activations, job, stage); }

InFlightBytes in_flight_bytes(const Prepared::State& job, std::size_t stage) {
    KnownMoments none;
    return in_flight_bytes(job, stage, none);
}

InFlightBytes in_flight_bytes(const Prepared::State& job, std::size_t stage, KnownMoments& known) {
    const Fullest moment = fullest(Where::device, job, stage, known);
    InFlightBytes bytes;
    bytes.waiting = moment.waiting;
    bytes.halfway = moment.halfway;
    bytes.activations = max(moment.waiting + moment.working, alive_in_forward(job, stage));
    bytes.logits = waiting_logits(job, stage, moment.logits);
    if (job.scenario.plan.offload_activations != OffloadActivations::none)
        bytes.offloaded = fullest(Where::host, job, stage, known).waiting;
    bytes.weights_in_use = weights_in_use(job, job.stages[stage]);
    return bytes;
}

}  // namespace sextant
