// What a rank's blocks read from the data.
#include "backend/exec/rank_runner.hpp"

#include <algorithm>

namespace sextant {

bool RankRunner::reads_data(int block) {
    const OperatorGraph& graph = memory_.block(block).program.graph();
    return block == 0 || std::ranges::any_of(graph.inputs(), [&](TensorId id) { return graph.tensor(id).role == TensorRole::index; });
}

// Before the step begins, as a loader would that runs ahead.
void RankRunner::make_data() {
    const Plan& plan = job_.scenario.plan;
    for (auto& [b, held] : memory_.blocks()) {
        if (!reads_data(b)) continue;
        for (std::uint32_t m = 0; m < plan.micro_batches() * job_.rounds(); ++m) {
            const StepPosition at = position(m);
            const auto first = static_cast<std::int64_t>(at.step) * plan.global_batch + at.first_sample;
            data_[{b, m}] = task_.inputs(device_, held.program.graph(), b, job_.cut_at(place_).context, first, plan.micro_batch);
        }
    }
}

// The first rank of those that see the same samples reads for all of them.
std::vector<RankPlace> RankRunner::peers_of_feed() const {
    const auto at = [&](int context, int tensor) {
        RankPlace peer = place_;
        peer.context = context;
        peer.tensor = tensor;
        return peer;
    };
    if (!feed_->reads()) return {at(0, 0)};
    std::vector<RankPlace> others;
    for (int c = 0; c < job_.scenario.plan.cp; ++c)
        for (int t = c == 0 ? 1 : 0; t < job_.scenario.plan.tp; ++t) others.push_back(at(c, t));
    return others;
}

// A loader runs ahead; what it is behind is time of the step.
void RankRunner::await_samples(SegmentIndex s, std::uint32_t micro_batch) {
    recorder_.begin(s, SpanKind::input);
    feed_->next();
    std::vector<Call> calls;
    for (auto& [b, held] : memory_.blocks()) {
        if (!reads_data(b)) continue;
        const OperatorGraph& graph = held.program.graph();
        const Arrays& mine = data_[{b, micro_batch}] = feed_->inputs(device_, graph, b, job_.cut_at(place_).context);
        for (const RankPlace& peer : peers_) {
            const bool other_part = feed_->reads() && peer.context != place_.context;
            const Arrays arrays = other_part ? feed_->inputs(device_, graph, b, job_.cut_at(peer).context) : mine;
            for (const Array& a : arrays)
                if (a) calls.emplace_back(MessageCall{layout_.rank_at(peer), message_tag::samples, !feed_->reads(), a});
        }
    }
    if (!calls.empty()) loop_.run(std::move(calls), device_.mark());
}

bool RankRunner::lacks_samples(const ComputeWork& work, std::uint32_t micro_batch) {
    for (int b = work.first_block; b < work.first_block + work.count; ++b)
        if (reads_data(b) && !data_.contains({b, micro_batch})) return true;
    return false;
}

void RankRunner::run(SegmentIndex s, const TakeWork&) {
    if (feed_ != nullptr) await_samples(s, job_.graph.segments()[s].micro_batch);
}

}  // namespace sextant
