#include "backend/exec/server_runner.hpp"

#include "backend/exec/poll_backoff.hpp"
#include "backend/storage/clock.hpp"

#include <algorithm>
#include <thread>

namespace sextant {
namespace {

constexpr Seconds between_looks = 50 * units::us;

// Passes over an array. A sum reads what is there and what comes, and writes; an update reads gradients, and reads and writes the rest.
constexpr int passes_of_sum = 3;
int passes_of_update(const OptimizerSettings& o) { return 1 + 2 * (1 + facts_of(o.kind).states); }

}  // namespace

ServerRunner::ServerRunner(const Job& job, int server, ComputeDevice& device, Transport& transport, RankActivity& activity)
    : job_(job),
      together_(!job.scenario.plan.is_asynchronous()),
      device_(device),
      transport_(transport),
      activity_(activity),
      memory_(device, job, static_cast<GraphRank>(job.workers()), {}, {.dense = {server, job.servers()}},
              {.sharded = true, .sharded_parameters = true, .sums_apart = true}) {
    memory_.draw_weights(job.seed);
    drop_sums();
    for (int w = 0; w < job.workers(); ++w) {
        Worker& worker = workers_.emplace_back(Worker{served_rounds(job.graph, static_cast<GraphRank>(w))});
        if (together_) continue;
        for (const auto& [b, held] : memory_.blocks()) worker.weights.push_back(device_.allocate(held.dense.owned.elements, Element::real));
    }
}

StepRecord ServerRunner::step(int number) {
    step_ = number;
    under_way_.emplace(transport_.start(BarrierCall{}), std::nullopt);
    drain();
    StepRecord record;
    record.begin = now();
    record.losses.assign(static_cast<std::size_t>(job_.rounds()), 0);
    record.mtp_losses = record.losses;
    for (int w = 0; w < job_.workers(); ++w) {
        workers_[static_cast<std::size_t>(w)].round = 0;
        receive(w);
    }
    drain();
    record.end = now();
    record.details.emplace(StepDetails{std::exchange(spans_, {})});
    record.peak_bytes = device_.peak_bytes();
    return record;
}

// A worker has begun to push, and has not pushed everything; or weights are on their way, or all ranks meet. Else workers compute.
bool ServerRunner::more_is_near() const {
    return std::ranges::any_of(workers_, [](const Worker& w) { return w.push > 0; }) ||
           std::ranges::any_of(under_way_, [](const auto& call) { return !call.second; });
}

// Takes what comes until nothing is under way.
void ServerRunner::drain() {
    std::vector<Ticket> ended;
    PollBackoff backoff;
    backoff.begin(now());
    while (!under_way_.empty()) {
        ended.clear();
        transport_.poll(ended);
        for (const Ticket t : ended) {
            const std::optional<int> from = under_way_.at(t);
            under_way_.erase(t);
            if (from) serve(*from);
        }
        if (!ended.empty()) {
            backoff.begin(now());
            continue;
        }
        const Seconds rest = more_is_near() ? between_looks : backoff.rest(now(), between_looks);
        std::this_thread::sleep_for(to_chrono(rest));
    }
}

void ServerRunner::receive(int worker) {
    Worker& w = workers_[static_cast<std::size_t>(worker)];
    if (w.round == w.rounds.size()) return;
    activity_.at(job_.graph, step_, w.next().served);
    activity_.waits_for(w.next().segment);
    w.incoming = device_.allocate(memory_.block(w.next().block).dense.owned.elements, Element::real);
    under_way_.emplace(transport_.start(MessageCall{worker, message_tag::pushed_gradients, true, w.incoming}), worker);
}

// Of a block the gradients that come first are the sum to which the others are added.
void ServerRunner::serve(int worker) {
    Worker& w = workers_[static_cast<std::size_t>(worker)];
    const Push& push = w.next();
    ParameterRun& run = memory_.block(push.block).dense;
    const Array gradients = std::exchange(w.incoming, {});
    const Seconds start = now();
    applied_.add(device_, sampled(device_, gradients));
    if (!together_) {
        device_.update(job_.optimizer, ++updates_[push.block], run.owned, gradients, run.states);
        record(push.served, start, passes_of_update(job_.optimizer) * gradients.elements);
    } else if (run.sums) {
        device_.add(run.sums, gradients, run.sums);
        record(push.served, start, passes_of_sum * gradients.elements);
    } else {
        run.sums = gradients;
        record(push.served, start, 0);
    }
    if (++w.push == w.rounds[w.round].pushes.size()) {
        w.push = 0;
        end_round(worker);
    } else {
        receive(worker);
    }
}

void ServerRunner::end_round(int worker) {
    Worker& w = workers_[static_cast<std::size_t>(worker)];
    const SegmentIndex pull = w.rounds[w.round++].pull;
    if (!together_) {
        if (w.left_at) staleness_.push_back(steps_applied_ - *w.left_at);
        w.left_at = ++steps_applied_;
        send(worker, true);
        return receive(worker);
    }
    if (++waiting_ < job_.workers()) return;
    waiting_ = 0;
    update_all(*std::ranges::find_if(job_.graph.waits_for(pull), [&](SegmentIndex s) {
        return std::holds_alternative<ServeWork>(job_.graph.works()[job_.graph.segments()[s].work]);
    }));
    for (int all = 0; all < job_.workers(); ++all) send(all, false);
}

void ServerRunner::update_all(SegmentIndex s) {
    const Seconds start = now();
    memory_.update(device_, job_.optimizer, step_ + 1);
    std::int64_t elements = 0;
    for (const auto& [b, held] : memory_.blocks()) elements += held.dense.owned.elements;
    record(s, start, passes_of_update(job_.optimizer) * elements);
    drop_sums();
}

void ServerRunner::drop_sums() {
    for (auto& [b, held] : memory_.blocks()) held.dense.sums = {};
}

// Updates that follow must not show in weights that are on their way.
void ServerRunner::send(int worker, bool copy) {
    Worker& w = workers_[static_cast<std::size_t>(worker)];
    std::size_t next = 0;
    for (const auto& [b, held] : memory_.blocks()) {
        Array from = held.dense.owned;
        if (copy) {
            device_.copy(held.dense.owned, w.weights[next]);
            from = w.weights[next++];
        }
        under_way_.emplace(transport_.start(MessageCall{worker, message_tag::pulled_weights, false, from}), std::nullopt);
    }
}

void ServerRunner::send_weights() {
    for (int worker = 0; worker < job_.workers(); ++worker) send(worker, false);
    drain();
}

void ServerRunner::record(SegmentIndex s, Seconds start, std::int64_t moved_elements) {
    RecordedSpan span;
    span.start = start;
    span.end = now();
    span.bytes = static_cast<double>(moved_elements * bytes_of(Element::real)) * units::B;
    span.segment = s;
    span.stream = Stream::server;
    span.kind = SpanKind::serve;
    spans_.push_back(span);
}

}  // namespace sextant
