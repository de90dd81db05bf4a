// The end of a rank's step: gradients become new weights.
#include "backend/exec/gradient_norm.hpp"
#include "backend/exec/rank_runner.hpp"
#include "backend/exec/reals.hpp"

#include <cmath>

namespace sextant {
namespace {

constexpr int tied_tag = 1;

}  // namespace

void RankRunner::run(SegmentIndex s, const UpdateWork&) {
    recorder_.begin(s, SpanKind::optimizer);
    sum_tied_gradients();
    if (const std::optional<double> factor = factor_of_gradients()) {
        if (*factor != 1)
            for (auto& [b, held] : memory_.blocks())
                for (const ParameterRun* run : held.runs())
                    if (run->sums) device_.scale(run->sums, static_cast<float>(*factor));
        memory_.update(device_, job_.optimizer, ++updates_);
        move_biases();
    }
    memory_.clear_gradients();
}

// The first and the last stage have a copy each of the table that embedding and head share, and gradients of its use there.
void RankRunner::sum_tied_gradients() {
    const int stages = job_.scenario.plan.pp, last = static_cast<int>(job_.graph.blocks().size()) - 1;
    const bool first = place_.pipeline == 0;
    if (tied_elements_ == 0 || stages < 2 || (!first && place_.pipeline != stages - 1)) return;
    HeldBlock& held = memory_.block(first ? 0 : last);
    const Array mine = held.dense.sums.part(first ? 0 : held.dense.own, tied_elements_);
    const Array other = device_.allocate(tied_elements_, mine.element);
    RankPlace there = place_;
    there.pipeline = first ? stages - 1 : 0;
    const int peer = layout_.rank_at(there);
    const std::vector<Call> calls{MessageCall{peer, tied_tag, false, mine}, MessageCall{peer, tied_tag, true, other}};
    exchange(recorder_.segment(), calls);
    device_.add(mine, other, mine);
}

// Of routers, by how many tokens chose each expert in this step. Tensor ranks that have the same tokens all count them, in every layer and
// data-parallel rank alike: who has more than the mean stays the same.
void RankRunner::move_biases() {
    const double speed = job_.bias_update_speed();
    if (speed == 0) return;
    std::vector<float> counts(expert_rows_.begin(), expert_rows_.end());
    const Array sum = uploaded(device_, counts, Element::real);
    exchange(recorder_.segment(), {SumCall{sum}});
    device_.download(sum, counts.data());
    const std::size_t experts = job_.experts();
    for (auto& [b, held] : memory_.blocks()) {
        const Array& biases = held.biases.weights;
        if (held.biases.elements == 0) continue;
        const auto of_block = std::span<const float>(counts).subspan(static_cast<std::size_t>(b) * experts, experts);
        device_.add(biases, uploaded(device_, bias_updates(of_block, speed), Element::real), biases);
    }
}

// Over the gradients of all parameters of all ranks, each counted once; of the loss as it was scaled.
double RankRunner::norm_of_gradients() {
    const auto is_first = [&](ParallelGroup alike) {
        const int rank = job_.graph.ranks()[rank_].rank;
        return layout_.group_of(rank, alike).front() == rank;
    };
    const bool dense = is_first(flow_.sharded ? ParallelGroup::replicas : ParallelGroup::data);
    const bool experts = flow_.sharded || is_first(ParallelGroup::expert_data);
    const double scale = loss_scale_ ? loss_scale_->value() : 1;  // what is summed in fp32 must not be too large for it
    auto squares = static_cast<float>(squares_of_gradients(device_, memory_, dense, experts) / (scale * scale));
    const Array sum = device_.allocate(1, Element::real);
    device_.upload(&squares, sum);
    exchange(recorder_.segment(), {SumCall{sum}});
    device_.download(sum, &squares);
    return scale * std::sqrt(static_cast<double>(squares));
}

// By which gradients come to be those of the loss itself, and no longer than the clipping allows. None where some are no numbers, and the
// step does not count; all ranks find the same.
std::optional<double> RankRunner::factor_of_gradients() {
    const std::optional<double>& largest = job_.optimizer.largest_norm;
    if (!largest && !loss_scale_) return 1;
    const double norm = norm_of_gradients(), scale = loss_scale_ ? loss_scale_->value() : 1;
    if (loss_scale_ && !loss_scale_->take(std::isfinite(norm))) return {};
    return largest && norm > *largest * scale ? *largest / norm : 1 / scale;
}

void RankRunner::gather_weights() {
    if (servers_) return loop_.run(servers_->pull(), device_.mark());
    if (!flow_.sharded) return;
    const auto gather = [&](ParameterRun& run, ParallelGroup group) {
        if (run.elements == 0 || !run.sharded) return;
        if (!run.weights) run.weights = device_.allocate(run.elements, run.owned.element);
        const CommunicatorIndex owners = *job_.graph.ranks()[rank_].communicators[static_cast<std::size_t>(group)];
        loop_.run({CollectiveCall{ExchangeKind::all_gather, owners, Stream::compute, run.owned, run.weights}}, device_.mark());
    };
    for (auto& [b, held] : memory_.blocks()) {
        gather(held.dense, ParallelGroup::shard);
        gather(held.experts, ParallelGroup::expert_data);
        gather(held.frozen, ParallelGroup::shard);
    }
}

}  // namespace sextant
