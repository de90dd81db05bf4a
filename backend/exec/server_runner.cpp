#include "backend/exec/server_runner.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace sextant {
namespace {

constexpr std::chrono::microseconds between_looks{50};
constexpr int passes_of_sum = 3;  // over an array: what is there, what comes, what is written

}  // namespace

ServerRunner::ServerRunner(const Job& job, int server, ComputeDevice& device, Transport& transport, Whereabouts& where)
    : job_(job),
      together_(job.scenario.plan.data_parallel == DataParallel::parameter_server),
      device_(device),
      transport_(transport),
      where_(where),
      memory_(device, job.graph, static_cast<GraphRank>(job.workers()), job.serial, job.scenario.plan, {}, {server, job.servers()}, {},
              {.sharded = true, .sharded_parameters = true}) {
    memory_.draw_weights(job.seed);
    std::int64_t largest = 0;
    for (const auto& [b, held] : memory_.blocks()) largest = std::max(largest, held.dense.owned.elements);
    for (int w = 0; w < job.workers(); ++w) {
        Worker& worker = workers_.emplace_back(Worker{served_rounds(job.graph, static_cast<GraphRank>(w))});
        worker.incoming = device_.allocate(largest, Element::real);
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
    record.spans = std::exchange(spans_, {});
    record.peak_bytes = device_.peak_bytes();
    return record;
}

// Takes what comes until nothing is under way.
void ServerRunner::drain() {
    std::vector<Ticket> ended;
    while (!under_way_.empty()) {
        ended.clear();
        transport_.poll(ended);
        for (const Ticket t : ended) {
            const std::optional<int> from = under_way_.at(t);
            under_way_.erase(t);
            if (from) serve(*from);
        }
        if (ended.empty()) std::this_thread::sleep_for(between_looks);
    }
}

void ServerRunner::receive(int worker) {
    const Worker& w = workers_[static_cast<std::size_t>(worker)];
    if (w.round == w.rounds.size()) return;
    where_.at(job_.graph, step_, w.next().served);
    where_.waits_for(w.next().segment);
    const Array part = w.incoming.part(0, memory_.block(w.next().block).dense.owned.elements);
    under_way_.emplace(transport_.start(MessageCall{worker, message_tag::pushed_gradients, true, part}), worker);
}

void ServerRunner::serve(int worker) {
    Worker& w = workers_[static_cast<std::size_t>(worker)];
    const Push& push = w.next();
    HeldBlock& held = memory_.block(push.block);
    const Array gradients = w.incoming.part(0, held.dense.owned.elements);
    const Seconds start = now();
    if (together_)
        device_.add(held.dense.sums, gradients, held.dense.sums);
    else
        device_.update(job_.optimizer, ++updates_[push.block], held.dense.owned, gradients, held.dense.states);
    record(push.served, start, gradients.elements);
    applied_.add(gradients);
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
    record(s, start, elements);
    memory_.clear_gradients();
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

void ServerRunner::record(SegmentIndex s, Seconds start, std::int64_t elements) {
    RecordedSpan span;
    span.start = start;
    span.end = now();
    span.bytes = passes_of_sum * static_cast<double>(elements * bytes_of(Element::real)) * units::B;
    span.segment = s;
    span.stream = Stream::server;
    span.kind = SpanKind::serve;
    spans_.push_back(span);
}

}  // namespace sextant
