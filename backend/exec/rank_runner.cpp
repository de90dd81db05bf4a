#include "backend/exec/rank_runner.hpp"

#include "backend/exec/span_kinds.hpp"
#include "model/plan/gradient_accumulation.hpp"
#include "model/plan/virtual_stages.hpp"

#include <algorithm>

namespace sextant {
namespace {

constexpr int tags_per_transfer = 4;

bool has_group(const TaskGraph& graph, GraphRank rank, ParallelGroup group) { return graph.ranks()[rank].communicators[group].has_value(); }

GradientFlow flow_of(const Job& job, GraphRank rank) {
    const bool shards = has_group(job.graph, rank, ParallelGroup::shard);
    GradientFlow flow;
    flow.served = job.scenario.plan.has_servers();
    flow.sharded_parameters = shards && job.scenario.plan.shards_parameters();
    flow.sharded = flow.sharded_parameters || (shards && job.scenario.plan.shards_states());
    return flow;
}

// This rank's number in a group, and of how many.
template <class Cut>
Cut place_in(const TaskGraph& graph, GraphRank rank, ParallelGroup group) {
    if (!has_group(graph, rank, group)) return {};
    const auto& members = graph.communicators()[*graph.ranks()[rank].communicators[group]].members;
    return {static_cast<int>(std::ranges::find(members, rank) - members.begin()), static_cast<int>(members.size())};
}

BlockCut cut_of(const Job& job, GraphRank rank, const RankPlace& place) {
    BlockCut cut = job.cut_at(place);
    cut.experts.among = place_in<TensorCut>(job.graph, rank, ParallelGroup::expert);
    cut.experts.inside = place_in<TensorCut>(job.graph, rank, ParallelGroup::expert_tensor);
    return cut;
}

RunShards shards_of(const Job& job, GraphRank rank, const GradientFlow& flow) {
    if (flow.served) return {{0, job.servers()}, {0, job.servers()}};
    if (!flow.sharded) return {};
    return {place_in<ShardCut>(job.graph, rank, ParallelGroup::shard), place_in<ShardCut>(job.graph, rank, ParallelGroup::expert_data)};
}

RankPlan planned(const Job& job, GraphRank rank, GradientFlow& flow) {
    const Plan& plan = job.scenario.plan;
    const PassingArrays passing{
        .weights = flow.sharded_parameters || plan.offloads_parameters(),
        .gradients = flow.sharded && gives_up_reduced_gradients(plan, job.scenario.framework, plan.micro_batches())};
    RankPlan of_rank = plan_rank(job.graph, rank, passing);
    flow.sums_apart = passing.gradients || (!flow.sharded && !flow.served && of_rank.reduces_repeatedly);
    return of_rank;
}

}  // namespace

RankRunner::RankRunner(const Job& job, GraphRank rank, ComputeDevice& device, ComputeDevice* host, Transport& transport,
                       RankActivity& activity, DatasetFeed* feed, bool times_operators)
    : job_(job),
      rank_(rank),
      layout_(layout_of(job.scenario)),
      place_(layout_.place_of(job.graph.ranks()[rank].rank)),
      flow_(flow_of(job, rank)),
      plan_(planned(job, rank, flow_)),
      activity_(activity),
      recorder_(device),
      operators_(times_operators ? std::optional<OperatorTimes>(device) : std::nullopt),
      device_(device, recorder_, operators_ ? &*operators_ : nullptr),
      loop_(job.graph, rank, device, transport, [this](SegmentIndex s) { return calls_of(s); }),
      block_exchanges_(job.graph, rank, loop_, device, recorder_),
      memory_(device, job, rank, cut_of(job, rank, place_), shards_of(job, rank, flow_), flow_, host),
      task_(job.serial, job.seed, job.element()),
      feed_(feed),
      arriving_(job.graph.segments().size()),
      passing_(2 * static_cast<std::size_t>(job.scenario.plan.vpp) * static_cast<std::size_t>(job.scenario.plan.micro_batches()) *
               static_cast<std::size_t>(job.rounds())),
      gathered_(job.graph.segments().size()) {
    first_of_rank_.assign(job.graph.ranks().size(), 0);
    for (SegmentIndex s = static_cast<SegmentIndex>(job.graph.segments().size()); s-- > 0;)
        first_of_rank_[job.graph.segments()[s].rank] = s;
    if (feed_ != nullptr) peers_ = peers_of_feed();
    if (job.optimizer.loss_scale) loss_scale_.emplace(*job.optimizer.loss_scale);
    if (job.scenario.plan.pp > 1)
        for (const SharedMatrix matrix : all_shared_matrices) stages_with_[matrix] = stages_with(job.graph, matrix);
    memory_.draw_weights(job.seed);
    if (flow_.served) servers_.emplace(job, rank, memory_);
}

const SegmentPlan& RankRunner::plan_of(SegmentIndex s) const {
    static const SegmentPlan nothing;
    const auto found = plan_.plans.find(s);
    return found == plan_.plans.end() ? nothing : found->second;
}

RankRunner::Arrays& RankRunner::passing(Payload payload, const Segment& s) {
    const Plan& plan = job_.scenario.plan;
    const auto direction = static_cast<std::size_t>(payload == Payload::activations ? 0 : plan.vpp);
    // Where a pipeline turns, a chunk goes on with what the one before it made here.
    const VirtualStages stages(plan);
    const std::size_t v = stages.at(static_cast<std::size_t>(place_.pipeline), s.chunk);
    const bool goes_on = v > 0 && !stages.is_handed(v);
    const std::size_t chunk = goes_on ? stages.chunk_of(v - 1) : s.chunk;
    return passing_[(direction + chunk) * static_cast<std::size_t>(plan.micro_batches() * job_.rounds()) + s.micro_batch];
}

int RankRunner::round_of(std::uint32_t micro_batch) const { return static_cast<int>(micro_batch / job_.scenario.plan.micro_batches()); }

// The mean loss of this rank's rows of a micro-batch in the mean over the global batch.
double RankRunner::share_of_loss() const {
    const Plan& plan = job_.scenario.plan;
    return 1.0 / static_cast<double>(plan.micro_batches() * plan.dp * plan.cp);
}

// A worker that goes on without the others makes updates of its own: its gradients are of its own mean loss.
StepPosition RankRunner::position(std::uint32_t micro_batch) const {
    const Plan& plan = job_.scenario.plan;
    return {.seed = job_.seed,
            .step = static_cast<std::uint64_t>(step_) * static_cast<std::uint64_t>(job_.rounds()) +
                    static_cast<std::uint64_t>(round_of(micro_batch)),
            .first_sample = (place_.data * plan.micro_batches() + micro_batch % plan.micro_batches()) * plan.micro_batch,
            .loss_weight = share_of_loss() * (plan.is_asynchronous() ? plan.dp : 1) * (loss_scale_ ? loss_scale_->value() : 1)};
}

// From a server comes a message, and from loaders what the feed hands on. What this rank computed before, the device has in its order.
bool RankRunner::is_awaited(const Segment& s) const {
    return (s.rank != rank_ || s.stream != Stream::compute) && !job_.graph.ranks()[s.rank].server &&
           !brings_samples(job_.graph.works()[s.work]);
}

// All that may come once that segment is done, before it begins: so no sender waits for a receiver that waits for it, and there is room for
// no more than may come.
void RankRunner::post_receives(std::optional<SegmentIndex> behind) {
    const auto [begin, end] = plan_.arriving.equal_range(behind);
    for (auto arrival = begin; arrival != end; ++arrival) {
        const Arrival& a = arrival->second;
        const Segment& sent = job_.graph.segments()[a.transfer];
        Arrays whole = room_for(a.reader);
        Arrays& arrays = arriving_[a.transfer];
        std::vector<Call> calls;
        for (const Array& w : whole) {
            arrays.push_back(a.gather ? device_.allocate(w.elements / cut_of_boundaries().ranks, w.element) : w);
            calls.emplace_back(MessageCall{job_.graph.ranks()[sent.rank].rank, tag_of(a.transfer, calls.size()), true, arrays.back()});
        }
        if (a.gather) arriving_[*a.gather] = std::move(whole);
        loop_.receive(a.transfer, std::move(calls));
    }
}

// Where stages hand on a part of what each rank of a tensor group has alike.
TensorCut RankRunner::cut_of_boundaries() const {
    return scatters_boundaries(job_.scenario.plan, job_.scenario.framework) ? job_.cut_at(place_).tensor : TensorCut{};
}

int RankRunner::tag_of(SegmentIndex transfer, std::size_t part) const {
    const SegmentIndex first = first_of_rank_[job_.graph.segments()[transfer].rank];
    return message_tag::transfers + static_cast<int>(std::size_t{transfer - first} * tags_per_transfer + part);
}

// For the arrays that a pass begins with: those that its first block reads, or those that its last one made.
RankRunner::Arrays RankRunner::room_for(SegmentIndex reader) {
    const auto& work = std::get<ComputeWork>(job_.graph.works()[job_.graph.segments()[reader].work]);
    const bool forward = work.phase == Phase::forward;
    const OperatorGraph& graph = memory_.block(forward ? work.first_block : work.first_block + work.count - 1).program.graph();
    Arrays arrays;
    for (const TensorId id : forward ? graph.inputs() : graph.outputs()) {
        const Tensor& t = graph.tensor(id);
        if (t.role == TensorRole::index || t.role == TensorRole::statistic) continue;
        arrays.push_back(device_.allocate(static_cast<std::int64_t>(t.elements()), element_of(t.role, job_.element())));
    }
    return arrays;
}

// Until all ranks are ready for it.
void RankRunner::prepare_step(int number) {
    step_ = number;
    losses_.assign(static_cast<std::size_t>(job_.rounds()), 0);
    mtp_losses_ = losses_;
    expert_rows_.assign(job_.graph.blocks().size() * job_.experts(), 0);
    if (feed_ == nullptr) make_data();
    device_.begin_step();
    loop_.run({BarrierCall{}}, device_.mark());
}

void RankRunner::run_segment(SegmentIndex s) {
    activity_.at(job_.graph, step_, s);
    post_receives(s);
    for (const SegmentIndex before : job_.graph.waits_for(s))
        if (is_awaited(job_.graph.segments()[before])) await(before);
    settle(plan_of(s));
    device_.enter([&] { return operation_text(job_.graph, s); });
    std::visit([&](const auto& work) { run(s, work); }, job_.graph.works()[job_.graph.segments()[s].work]);
    recorder_.end();
    device_.leave();
    loop_.complete(s, device_.mark());
}

StepRecord RankRunner::step(int number) {
    prepare_step(number);
    StepRecord record;
    record.begin = now();
    loop_.begin_step();
    post_receives({});
    unsettled_ = plan_.reductions;
    for (const SegmentIndex s : plan_.compute) run_segment(s);
    take_losses();
    if (servers_) servers_->count_samples(device_);
    device_.finish();
    loop_.end_step();
    record.end = now();
    StepDetails& details = record.details.emplace(StepDetails{recorder_.take(), loop_.take_arrivals()});
    const std::vector<RecordedSpan> beside = loop_.take_spans();
    details.spans.insert(details.spans.end(), beside.begin(), beside.end());
    if (operators_) details.operators = operators_->take();
    record.losses = losses_;
    record.mtp_losses = mtp_losses_;
    record.expert_rows = expert_rows_;
    record.peak_bytes = device_.peak_bytes();
    return record;
}

void RankRunner::await(SegmentIndex s) {
    activity_.waits_for(s);
    loop_.wait(s);
    activity_.goes_on();
}

// What must be, and what is through already: the sooner, the less memory gradients take.
void RankRunner::settle(const SegmentPlan& plan) {
    for (const Settlement& must : plan.settles) await(must.after);
    std::erase_if(unsettled_, [&](const Settlement& s) {
        if (!loop_.is_done(s.after)) return false;
        memory_.settle(s.block);
        return true;
    });
}

void RankRunner::run(SegmentIndex s, const ComputeWork& work) {
    const Segment& segment = job_.graph.segments()[s];
    for (const SegmentIndex before : job_.graph.waits_for(s)) {
        if (arriving_[before].empty()) continue;
        passing(work.phase == Phase::forward ? Payload::activations : Payload::activation_gradients, segment) =
            std::exchange(arriving_[before], {});
    }
    const SegmentPlan& plan = plan_of(s);
    device_.begin_pass(work.phase);
    if (work.phase == Phase::forward) {
        if (feed_ != nullptr && lacks_samples(work, segment.micro_batch)) await_samples(s, segment.micro_batch);
        recorder_.begin(s, SpanKind::forward);
        forward(segment, work, plan);
    } else if (work.phase == Phase::backward_weight) {
        recorder_.begin(s, SpanKind::weight_gradient);
        finish_backward(segment, work, plan);
    } else {
        recorder_.begin(s, SpanKind::backward);
        backward(segment, work, plan);
    }
    if (operators_) operators_->enter({});
    for (const SegmentIndex gather : plan.releases) gathered_[gather] = {};
}

void RankRunner::run(SegmentIndex s, const OverheadWork& work) {
    recorder_.begin(s, SpanKind::overhead);
    // Else the update has cleared them, or they were when the servers had them.
    if (work.of_step && job_.scenario.plan.without_optimizer) memory_.clear_gradients();
}

// Samples go to the device as they are taken, or made before the step.
void RankRunner::run(SegmentIndex, const CopyWork&) {}

template <class Exchanged>
void RankRunner::run(SegmentIndex s, const Exchanged&) {
    const std::vector<Call> calls = calls_of(s);
    exchange(s, calls);
}

// In the compute stream: it begins when the device has what it needs.
void RankRunner::exchange(SegmentIndex s, const std::vector<Call>& calls) {
    recorder_.end();
    const Mark came = device_.mark();
    loop_.run(calls, came);
    recorder_.add(exchange_span(job_.graph, s, calls, device_.time_of(came), now()));
}

}  // namespace sextant
