#include "model/predict/memory_in_flight.hpp"

#include "model/predict/block_memory.hpp"
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
    double first_recomputed = 0, others_recomputed = 0;
    friend bool operator==(const InFlight&, const InFlight&) = default;
};
constexpr InFlight of_all_chunks(double micro_batches, double recomputed = 0) {
    return {micro_batches, micro_batches, recomputed, recomputed};
}

int interleaved_warm_up(const Plan& plan, std::size_t stage) {
    return sextant::interleaved_warm_up(plan.pp, plan.vpp, static_cast<int>(stage));
}

// When the stage is fullest; where the pipeline turns back, that is at one of three times: two while micro-batches go both ways, and one
// at the end, when most gradients of weights wait.
std::array<InFlight, 3> in_flight(const Prepared::State& job, std::size_t stage) {
    const Plan& plan = job.scenario.plan;
    const double m = static_cast<double>(job.micro_batches), p = plan.pp, v = plan.vpp, s = static_cast<double>(stage);
    const auto once = [](InFlight all) { return std::array{all, all, all}; };
    const auto most = [m](double first, double others, double first_recomputed, double others_recomputed) {
        return InFlight{std::min(m, first), std::min(m, others), std::min(m, first_recomputed), std::min(m, others_recomputed)};
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

// What one block holds for one micro-batch: waiting_activations, offloaded_activations or recomputed_activations.
using BytesOfBlock = Bytes (*)(const BlockKernels&, const Prepared::State&, double recomputed);

// All blocks of a stage together.
Bytes sum_over_blocks(BytesOfBlock bytes_of, const Prepared::State& job, const StageBlocks& stage) {
    Bytes sum;
    for (std::size_t t = 0; t < stage.count.size(); ++t)
        if (stage.count[t] > 0) sum += stage.count[t] * bytes_of(job.templates[t], job, recomputed_share(job, stage, t));
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

// What the block needs that needs most.
Bytes working_memory(const Prepared::State& job, std::size_t stage) {
    const StageBlocks& blocks = job.stages[stage];
    Bytes most;
    for (std::size_t t = 0; t < job.templates.size(); ++t) {
        if (blocks.count[t] == 0) continue;
        const BlockKernels& k = job.templates[t];
        const bool recomputes = job.roles[t] == BlockRole::layer && blocks.recomputed_layers > 0;
        most = max(most, working_memory(k, job, recomputes));
        // The others of the stage keep everything: of what is offloaded more is on its way.
        if (recomputes && blocks.recomputed_layers < blocks.layers) most = max(most, working_memory(k, job, false));
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

double recomputed_share(const Prepared::State& job, const StageBlocks& stage, std::size_t block_template) {
    const bool layer = job.roles[block_template] == BlockRole::layer && stage.layers > 0;
    return layer ? static_cast<double>(stage.recomputed_layers) / stage.layers : 0;
}

Bytes waiting_activations(const Prepared::State& job, std::size_t stage) { return sum_in_flight(waiting_activations, job, stage, 1, 1); }

Bytes offloaded_activations(const Prepared::State& job, std::size_t stage) {
    return sum_in_flight(offloaded_activations, job, stage, 1, 1);
}

InFlightBytes in_flight_bytes(const Prepared::State& job, std::size_t stage) {
    const Plan& plan = job.scenario.plan;
    const std::array<InFlight, 3> times = in_flight(job, stage);
    const auto most = [&](BytesOfBlock bytes_of, BytesOfBlock recomputed) {
        if (plan.schedule == Schedule::interleaved && !plan.forward_only) return most_interleaved(bytes_of, job, stage);
        Bytes all;
        for (std::size_t i = 0; i < times.size(); ++i) {
            const InFlight& t = times[i];
            if (i > 0 && t == times[i - 1]) continue;
            Bytes here = sum_in_flight(bytes_of, job, stage, t.first, t.others);
            if (recomputed != nullptr) here += sum_in_flight(recomputed, job, stage, t.first_recomputed, t.others_recomputed);
            all = max(all, here);
        }
        return all;
    };
    InFlightBytes bytes;
    bytes.waiting = most(waiting_activations, job.stages[stage].recomputed_layers > 0 ? recomputed_activations : nullptr);
    bytes.activations = max(bytes.waiting + working_memory(job, stage), alive_in_forward(job, stage));
    bytes.logits = waiting_logits(job, stage, std::ranges::max(times, {}, &InFlight::others).others);
    if (plan.offload_activations != OffloadActivations::none) bytes.offloaded = most(offloaded_activations, nullptr);
    bytes.weights_in_use = weights_in_use(job, job.stages[stage]);
    return bytes;
}

}  // namespace sextant
