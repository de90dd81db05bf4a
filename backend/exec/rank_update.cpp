// The end of a rank's step: gradients become new weights.
#include "backend/exec/gradient_norm.hpp"
#include "backend/exec/rank_runner.hpp"
#include "backend/exec/reals.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {

void RankRunner::run(SegmentIndex s, const UpdateWork&) { update(s, SpanKind::optimizer); }
void RankRunner::run(SegmentIndex s, const OffloadWork& work) {
    if (work.what == Offloaded::update) return update(s, SpanKind::offload);
    recorder_.begin(s, SpanKind::offload);  // of weights: gradients come with the update
    fetched_ = memory_.fetch(work.block);
    if (!flow_.sharded_parameters) gathered_[s] = std::exchange(fetched_.dense, {});
}

void RankRunner::update(SegmentIndex s, SpanKind kind) {
    recorder_.begin(s, kind);
    for (const auto& [matrix, stages] : stages_with_)
        if (std::ranges::find(stages, place_.pipeline) != stages.end()) sum_tied_gradients(matrix);
    const std::optional<double> factor = factor_of_gradients();
    recorder_.kernel(kind, {}, {});  // goes on behind the exchange of their norm
    if (factor) {
        if (*factor != 1)
            for (auto& [b, held] : memory_.blocks())
                for (const ParameterRun* run : held.runs())
                    if (run->sums) device_.scale(run->sums, static_cast<float>(*factor));
        ++updates_;
        if (job_.optimizer.kind == Optimizer::lamb)
            update_in_proportion();
        else
            memory_.update(device_, job_.optimizer, updates_);
        move_biases();
    }
    memory_.clear_gradients();
}

// Each stage that uses a matrix has it, and the gradients of its use there: a rank those of the part that it updates, which of a stage's
// shards are others than of another's. Summed in the order of the stages: so all copies stay the same.
void RankRunner::sum_tied_gradients(SharedMatrix matrix) {
    const SharedHome& home = *memory_.home(matrix);
    const ParameterRun& run = memory_.block(home.block).dense;
    const SharedHome::Part mine = home.part_of(run.shard);
    if (mine.count == 0) return;
    const std::vector<int>& stages = stages_with_.at(matrix);
    Arrays parts;  // by stage
    for (const int stage : stages)
        parts.push_back(stage == place_.pipeline ? run.sums.part(home.offset + mine.first - run.shard.rank * run.sums.elements, mine.count)
                                                 : device_.allocate(mine.count, Element::real));
    const auto own = static_cast<std::size_t>(std::ranges::find(stages, place_.pipeline) - stages.begin());
    std::vector<Call> calls;
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (i != own) add_tied_exchange(calls, matrix, stages[i], parts[own], parts[i]);
    if (calls.empty()) return;
    exchange(recorder_.segment(), calls);
    std::size_t sum = 0;  // where it is so far
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const std::size_t to = i == own ? own : sum;
        device_.add(parts[sum], parts[i], parts[to]);
        sum = to;
    }
}

// Each rank of another stage whose part of the matrix overlaps this rank's sends its gradients of the elements in common, which arrive in
// `theirs`, and receives those of `mine`.
void RankRunner::add_tied_exchange(std::vector<Call>& calls, SharedMatrix matrix, int stage, const Array& mine, const Array& theirs) {
    const SharedHome& home = *memory_.home(matrix);
    const ShardCut& shard = memory_.block(home.block).dense.shard;
    const SharedHome::Part here = home.part_of(shard);
    for (int s = 0; s < shard.ranks; ++s) {
        const SharedHome::Part there = memory_.home(matrix, stage)->part_of({s, shard.ranks});
        const std::int64_t first = std::max(here.first, there.first);
        const std::int64_t count = std::min(here.first + here.count, there.first + there.count) - first;
        if (count <= 0) continue;
        const int peer = rank_of_shard(stage, s);
        calls.emplace_back(MessageCall{peer, message_tag::tied_gradients, false, mine.part(first - here.first, count)});
        calls.emplace_back(MessageCall{peer, message_tag::tied_gradients, true, theirs.part(first - here.first, count)});
    }
}

// The rank that has that shard in another stage, of those that this rank's place there shares the parameters with.
int RankRunner::rank_of_shard(int stage, int shard) const {
    RankPlace there = place_;
    there.pipeline = stage;
    const int rank = layout_.rank_at(there);
    return flow_.sharded ? layout_.group_of(rank, ParallelGroup::shard)[static_cast<std::size_t>(shard)] : rank;
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

// LAMB: of each tensor, wherever its parts are, a step as long as it is itself.
void RankRunner::update_in_proportion() {
    const std::vector<TensorPart> parts = tensor_parts(memory_, job_.graph.network(), counted_here());
    ComputeDevice& updater = memory_.updater(device_);
    const Array squares = updater.allocate(2 * static_cast<std::int64_t>(tensor_numbers(job_.graph.network())), Element::real);
    updater.fill(squares, 0);
    memory_.copy_gradients_to_host();
    const auto with = [](const TensorPart& p, const auto& work) {
        std::vector<Array> states;
        for (const Array& s : p.run->states) states.push_back(s.part(p.first, p.count));
        work(p.run->updated().part(p.first, p.count), states);
    };
    const auto of_tensor = [&](const TensorPart& p) { return squares.part(2 * static_cast<std::int64_t>(p.tensor), 2); };
    for (const TensorPart& p : parts)
        with(p, [&](const Array& weights, const Arrays& states) {
            updater.take_moments(job_.optimizer, updates_, weights, p.run->updates_with().part(p.first, p.count), states,
                                 p.counts ? of_tensor(p) : Array{});
        });
    sum_over_ranks(squares, updater);
    for (const TensorPart& p : parts)
        with(p, [&](const Array& weights, const Arrays& states) {
            updater.step_in_proportion(job_.optimizer, updates_, weights, states, of_tensor(p));
        });
    memory_.take_masters(device_);
}

// What devices have is exchanged: numbers of the host go there first.
void RankRunner::sum_over_ranks(const Array& numbers, ComputeDevice& of) {
    if (&of == &device_) return exchange(recorder_.segment(), {SumCall{numbers}});
    const Array there = device_.allocate(numbers.elements, numbers.element);
    device_.upload(numbers.memory.get(), there);
    exchange(recorder_.segment(), {SumCall{there}});
    device_.download(there, numbers.memory.get());
}

// Of all ranks that have the same the first one's count.
Counted RankRunner::counted_here() const {
    const auto is_first = [&](ParallelGroup alike) {
        const int rank = job_.graph.ranks()[rank_].rank;
        return layout_.group_of(rank, alike).front() == rank;
    };
    return {is_first(flow_.sharded ? ParallelGroup::replicas : ParallelGroup::data), flow_.sharded || is_first(ParallelGroup::expert_data)};
}

// Over the gradients of all parameters of all ranks, each counted once; of the loss as it was scaled.
double RankRunner::norm_of_gradients() {
    const std::vector<TensorPart> parts = tensor_parts(memory_, job_.graph.network(), counted_here());
    const double scale = loss_scale_ ? loss_scale_->value() : 1;  // what is summed in fp32 must not be too large for it
    auto squares = static_cast<float>(squares_of_gradients(device_, parts) / (scale * scale));
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
    memory_.fetch_all();
    if (!flow_.sharded) return;
    const auto gather = [&](ParameterRun& run, ParallelGroup group) {
        if (run.elements == 0 || !run.sharded) return;
        if (!run.weights) run.weights = device_.allocate(run.elements, run.owned.element);
        const CommunicatorIndex owners = *job_.graph.ranks()[rank_].communicators[group];
        loop_.run({CollectiveCall{ExchangeKind::all_gather, owners, Stream::compute, run.given_to(run.weights), run.weights}},
                  device_.mark());
    };
    for (auto& [b, held] : memory_.blocks()) {
        gather(held.dense, ParallelGroup::shard);
        gather(held.experts, ParallelGroup::expert_data);
        gather(held.frozen, ParallelGroup::shard);
    }
}

}  // namespace sextant
