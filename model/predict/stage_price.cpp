#include "model/predict/stage_price.hpp"

#include "model/plan/framework_defaults.hpp"
#include "model/plan/virtual_stages.hpp"

#include <algorithm>
#include <optional>

namespace sextant {
namespace {

// Prices stage after stage. What a stage sends forward, the next one sends back.
class StagePricer {
public:
    StagePricer(const Prepared::State& job, const StageParts& parts, const Resources& r, StagePrices& into)
        : job_(job), plan_(job.scenario.plan), where_(plan_), parts_(parts), r_(r), last_(job.stages.size() - 1), prices_(into) {
        prices_.clear();
        overhead_ = job.on_host(job.scenario.framework.micro_batch_overhead, r);
        slowdowns_ = slowdowns_by_mates();
        sends_block_ = !hides_sends(job);
        slowdown_ = job.overlap_slowdown(r);
    }

    void price_all() {
        Seconds arrival, passes_on;  // of the first micro-batch
        for (std::size_t s = 0; s <= last_; ++s) {
            const bool as_before = parts_.as_before[s] && slowdown_by_mates(s) == slowdown_by_mates(s - 1);
            if (!as_before || prices_.kinds.back().data.first_forward > Seconds{}) {
                add(s, arrival);
                const StagePrice& here = prices_.kinds.back();
                passes_on = (here.forward() + here.send_forward) / plan_.vpp + here.data.first_forward;
            }
            prices_.kind_of.push_back(prices_.kinds.size() - 1);
            arrival += passes_on;
        }
    }

private:
    // By stage: how many times as long its data-parallel exchanges take while the other stages on its nodes exchange theirs. Rates are
    // equal, so a stage with less to exchange is done earlier. Empty where no stages meet.
    [[nodiscard]] std::vector<double> slowdowns_by_mates() const {
        const std::vector<StageMates>& all = job_.groups.mates;
        if (std::ranges::none_of(all, [](const StageMates& mates) { return mates.data > 1; })) return {};
        std::vector<Seconds> exchanged;
        for (std::size_t s = 0; s <= last_; ++s) exchanged.push_back(parts_.exchanges(s).time());
        std::vector<double> slowdowns;
        for (std::size_t s = 0; s <= last_; ++s) {
            double& times = slowdowns.emplace_back(1.0);
            if (!(exchanged[s] > Seconds{})) continue;
            for (const std::size_t mate : all[s].stages) times += all[s].data_of_each() * std::min(1.0, exchanged[mate] / exchanged[s]);
        }
        return slowdowns;
    }
    [[nodiscard]] double slowdown_by_mates(std::size_t stage) const { return slowdowns_.empty() ? 1 : slowdowns_[stage]; }

    void add(std::size_t stage, Seconds arrival) {
        const StageWork& work = parts_.work(stage);
        StagePrice& price = prices_.kinds.emplace_back();
        price.work = &work;
        price.overhead = overhead_;
        if (plan_.pp > 1) price_sends(price, stage);
        price.data = data_parallel(stage, work, arrival);
        prices_.times.push_back(price.times());
        if (job_.played) add_chunks(price, stage, work);
    }

    [[nodiscard]] DataParallelPrice data_parallel(std::size_t stage, const StageWork& work, Seconds arrival) const {
        const StageContext context{arrival, overhead_, slowdown_by_mates(stage)};
        const auto price = [&] { return price_data_parallel(job_, stage, work, parts_.exchanges(stage), context, r_); };
        if (!parts_.sharded || !plan_.shards_parameters()) return price();
        std::optional<DataParallelPrice>& known = parts_.sharded(stage, context.slowdown);
        if (!known) known = price();
        return *known;
    }

    // How long a virtual stage sends to the next one; as much comes back.
    [[nodiscard]] Seconds send_time(std::size_t virtual_stage) const {
        if (!where_.hands_on(virtual_stage)) return {};
        const std::size_t stage = where_.stage_of(virtual_stage), chunk = where_.chunk_of(virtual_stage);
        const int block_template = job_.chunks[stage][chunk].blocks.back().block_template;
        Seconds time = parts_.sends.behind(stage, where_.goes_back(chunk), block_template);
        if (job_.nodes.turn > Seconds{}) time += job_.wait_for_core(parts_.work(stage).forward.device() / plan_.vpp);
        return time;
    }
    [[nodiscard]] Seconds send_back_time(std::size_t virtual_stage) const {
        return virtual_stage > 0 && !plan_.forward_only ? send_time(virtual_stage - 1) : Seconds{};
    }

    // What one stage sends for each micro-batch.
    void price_sends(StagePrice& price, std::size_t stage) const {
        for (std::size_t c = 0; c < job_.chunks[stage].size(); ++c) {
            const std::size_t v = where_.at(stage, c);
            price.send_forward += send_time(v);
            price.send_backward += send_back_time(v);
        }
        price.sends_block = sends_block_;
        if (price.sends_block) return;
        // As much comes from the neighbours as goes to them.
        const Seconds kernels = price.work->forward.kernels + price.work->backward.kernels;
        const Seconds transfers = 2.0 * (price.send_forward + price.send_backward);
        price.beside_sends = transfers < slowdown_ * kernels ? (1 - 1 / slowdown_) * transfers : (slowdown_ - 1) * kernels;
    }

    // The times of a micro-batch in each chunk; like ones are listed once.
    void add_chunks(const StagePrice& stage, std::size_t s, const StageWork& work) {
        const std::size_t count = job_.chunks[s].size();
        const std::size_t before = prices_.kind_of_chunk.size() - count;  // chunks of the stage before
        for (std::size_t c = 0; c < count; ++c) {
            if (!is_like_the_last_chunk(s, c, before)) prices_.chunk_kinds.push_back(chunk_times(stage, s, c, work));
            prices_.kind_of_chunk.push_back(prices_.chunk_kinds.size() - 1);
        }
    }
    [[nodiscard]] bool is_like_the_last_chunk(std::size_t s, std::size_t c, std::size_t before) const {
        const std::vector<ChunkBlocks>& chunks = job_.chunks[s];
        const std::vector<std::size_t>& kind_of = prices_.kind_of_chunk;
        const bool at_end = c < 2 || (s == last_ && c + 1 == chunks.size());
        if (at_end || alike_before(chunks, c, job_.stages[s]) == 0) return false;
        // The same must come back to both.
        return s > 0 ? kind_of[before + c] == kind_of[before + c - 1] : job_.chunks[last_][c - 1].alike > 0;
    }
    // What data parallelism adds to a pass is spread evenly over the chunks.
    [[nodiscard]] ChunkTimes chunk_times(const StagePrice& stage, std::size_t s, std::size_t c, const StageWork& work) const {
        const std::vector<ChunkBlocks>& chunks = job_.chunks[s];
        const double part = 1 / static_cast<double>(chunks.size());
        const double slowed = 1 + stage.beside_sends / (stage.forward() + stage.backward());
        const DataParallelPrice& data = stage.data;
        const auto [forward, backward, weights] = chunks.size() > 1 ? passes_of(chunks[c], job_.stages[s], work) : passes_of(work);
        ChunkTimes t;
        t.early = (c == 0 ? stage.overhead : Seconds{}) + part * data.early_forward;
        t.forward = t.early + slowed * forward + part * (data.steady_forward - data.early_forward);
        if (!plan_.forward_only) {
            t.early_backward = part * data.early_backward;
            t.late = stage.sends_block ? Seconds{} : part * data.late;
            t.weights = slowed * weights + part * data.steady_weights;
            t.backward = slowed * backward + part * (data.steady - data.steady_forward - data.steady_weights);
        }
        t.send_forward = send_time(where_.at(s, c));
        t.send_backward = send_back_time(where_.at(s, c));
        t.first = part * data.first_forward;
        t.last = part * (data.passing - data.first_forward);
        return t;
    }
    struct Passes {
        Seconds forward, backward, weights;
    };
    [[nodiscard]] static Passes passes_of(const StageWork& all) {
        return {all.forward.device(), (all.backward - all.weights).device(), all.weights.device()};
    }
    [[nodiscard]] Passes passes_of(const ChunkBlocks& chunk, const StageBlocks& stage, const StageWork& work) const {
        Passes all;
        for (const ChunkBlocks::Run& run : chunk.runs) {
            const StageWork::Passes& block = work.passes[static_cast<std::size_t>(run.first.block_template)];
            const int recomputed = run.recomputed(stage), once = run.count - recomputed;
            all.forward += recomputed * block.checkpointed.device() + once * block.forward.device();
            all.backward += recomputed * block.recompute_and_backward.device() + once * block.backward.device();
            all.weights += run.count * block.weights.device();
        }
        if (weights_apart(plan_.schedule) != WeightsApart::in_all) all.backward -= all.weights;
        return all;
    }

    const Prepared::State& job_;
    const Plan& plan_;
    VirtualStages where_;
    const StageParts& parts_;
    const Resources& r_;
    std::size_t last_;
    Seconds overhead_;
    bool sends_block_;
    double slowdown_;
    std::vector<double> slowdowns_;  // by the stages on the same nodes
    StagePrices& prices_;
};

}  // namespace

bool hides_sends(const Prepared::State& job) { return overlaps_pipeline(job.scenario.plan, job.scenario.framework); }

StageTimes StagePrice::times() const {
    StageTimes t;
    t.early = overhead + data.early_forward;
    t.early_backward = data.early_backward;
    t.late = sends_block ? Seconds{} : data.late;
    t.met = data.met;
    t.forward = t.early + forward() + (sends_block ? send_forward : Seconds{});
    t.weights = blocks().weights.time() + data.steady_weights;
    t.backward = micro_batch() - t.forward - t.weights;
    t.host_forward = blocks().forward.host;
    t.host_backward = blocks().backward.host + blocks().recompute.host;
    t.passing = data.passing;
    return t;
}

std::vector<bool> stages_as_before(const Prepared::State& job) {
    std::vector<bool> as_before;
    for (std::size_t s = 0; s < job.stages.size(); ++s)
        as_before.push_back(s > 1 && s + 1 < job.stages.size() && job.stages[s] == job.stages[s - 1] && job.groups.as_before(s));
    return as_before;
}

void StagePrices::clear() {
    kinds.clear();
    kind_of.clear();
    times.clear();
    chunk_kinds.clear();
    kind_of_chunk.clear();
}

void price_stages(const Prepared::State& job, const StageParts& parts, const Resources& r, StagePrices& into) {
    StagePricer(job, parts, r, into).price_all();
}

OwnStagePrices price_stages(const Prepared::State& job, const Resources& r) {
    const std::vector<KernelTimes> kernels = kernel_times(job, r);
    std::vector<std::vector<SegmentPrice>> segments;
    for (const JobGroups& groups : job.groups.kinds) segments.push_back(price_blocks(job, kernels, groups, r));
    const SendTimes sends = job.stages.size() > 1 ? SendTimes(job, r) : SendTimes();
    const std::vector<bool> as_before = stages_as_before(job);
    OwnStagePrices prices;
    std::vector<std::optional<StageWork>>& works = prices.works;
    works.resize(job.stages.size());
    std::vector<std::optional<StageExchanges>> exchanges(job.stages.size());
    const auto work = [&](std::size_t s) -> const StageWork& {
        if (!works[s]) works[s] = stage_work(job, s, segments[job.groups.kind_of[s]]);
        return *works[s];
    };
    const auto exchanges_of = [&](std::size_t s) -> const StageExchanges& {
        if (!exchanges[s]) exchanges[s] = stage_exchanges(job, s, r);
        return *exchanges[s];
    };
    price_stages(job, {sends, as_before, work, exchanges_of}, r, prices);
    return prices;
}

}  // namespace sextant
