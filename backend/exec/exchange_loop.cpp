#include "backend/exec/exchange_loop.hpp"

#include "backend/exec/span_kinds.hpp"
#include "backend/storage/clock.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace sextant {
namespace {

// While the other thread computes. A message is moved by its receiver, who waits for it, so that one asks the less often the longer none
// has come; a collective needs all its ranks again and again.
constexpr Seconds between_questions = 50 * units::us, between_messages = 200 * units::us;

}  // namespace

ExchangeLoop::ExchangeLoop(const TaskGraph& graph, GraphRank rank, ComputeDevice& device, Transport& transport, Prepare prepare)
    : graph_(graph), device_(device), transport_(transport), prepare_(std::move(prepare)), done_(graph.segments().size(), 0) {
    for (SegmentIndex s = 0; s < graph.segments().size(); ++s) {
        const Segment& segment = graph.segments()[s];
        if (segment.rank == rank && segment.stream != Stream::compute && !brings_samples(graph.works()[segment.work]))
            queues_[static_cast<std::size_t>(segment.stream)].segments.push_back(s);
    }
    for (Queue& q : queues_) q.next = q.segments.size();  // nothing starts before the first step
}

void ExchangeLoop::begin_step() {
    const Lock lock(mutex_);
    std::ranges::fill(done_, 0);
    for (Queue& q : queues_) q.next = 0;
    if (has_work()) communicating_.notify_one();
}

void ExchangeLoop::receive(SegmentIndex segment, std::vector<Call> calls) {
    const Lock lock(mutex_);
    submitted_.push_back({.calls = std::move(calls), .segment = segment});
    communicating_.notify_one();
}

void ExchangeLoop::complete(SegmentIndex segment, const Mark& after) {
    const Lock lock(mutex_);
    completing_.push_back({segment, after});
    take_completed();
    if (has_work()) communicating_.notify_one();  // waking a thread takes as long as a small operator
}

// A device comes to its marks in their order.
bool ExchangeLoop::take_completed() {
    bool any = false;
    for (; !completing_.empty() && device_.reached(completing_.front().after); any = true) {
        done_[completing_.front().segment] = 1;
        completing_.pop_front();
    }
    if (any) computing_.notify_one();
    return any;
}

void ExchangeLoop::wait_until(const std::function<bool()>& holds) {
    Lock lock(mutex_);
    if (!holds()) {
        idle_ = true;
        communicating_.notify_one();
        computing_.wait(lock, [&] { return stopped_ || holds(); });
        idle_ = false;
    }
    if (stopped_) throw BackendError("communication has stopped");
}

void ExchangeLoop::wait(SegmentIndex segment) {
    wait_until([&] { return done_[segment] != 0; });
}

bool ExchangeLoop::is_done(SegmentIndex segment) {
    const Lock lock(mutex_);
    return done_[segment] != 0;
}

void ExchangeLoop::run(std::vector<Call> calls, const Mark& after) {
    {
        const Lock lock(mutex_);
        submitted_.push_back({.calls = std::move(calls), .after = after});
        ++unfinished_;
    }
    wait_until([&] { return unfinished_ == 0; });
}

void ExchangeLoop::end_step() {
    wait_until([&] { return std::ranges::all_of(queues_, [](const Queue& q) { return q.next == q.segments.size() && !q.busy; }); });
}

void ExchangeLoop::stop(std::exception_ptr failure) {
    const Lock lock(mutex_);
    stopped_ = true;
    failure_ = std::move(failure);
    communicating_.notify_one();
}

bool ExchangeLoop::ready(SegmentIndex s) const {
    return std::ranges::all_of(graph_.waits_for(s), [&](SegmentIndex before) { return done_[before] != 0; });
}

bool ExchangeLoop::has_work() const {
    return !submitted_.empty() || !completing_.empty() ||
           std::ranges::any_of(queues_, [&](const Queue& q) { return !q.busy && q.next < q.segments.size() && ready(q.segments[q.next]); });
}

void ExchangeLoop::start_streams(Lock& lock) {
    for (std::size_t i = 0; i < queues_.size(); ++i) {
        Queue& q = queues_[i];
        if (q.busy || q.next == q.segments.size() || !ready(q.segments[q.next])) continue;
        q.busy = true;
        Job job{.calls = {}, .segment = q.segments[q.next], .stream = i};
        lock.unlock();
        job.calls = prepare_(*job.segment);
        lock.lock();
        submitted_.push_back(std::move(job));
    }
}

// Collectives in turn, messages all at once: two ranks that send to each other would wait for each other.
void ExchangeLoop::advance(JobPlace job) {
    while (job->next < job->calls.size()) {
        const bool message = std::holds_alternative<MessageCall>(job->calls[job->next]);
        if (!message && job->active > 0) return;
        active_.emplace(transport_.start(job->calls[job->next++]), job);
        ++job->active;
    }
    if (job->active > 0) return;
    finish(*job);
    jobs_.erase(job);
}

// Whoever waits has the arrays to himself then: none goes back to its memory by this thread, which would have to make a mark.
void ExchangeLoop::finish(Job& job) {
    const Seconds at = now();
    if (job.stream) {
        spans_.push_back(exchange_span(graph_, *job.segment, job.calls, job.start, at));
    } else if (job.segment) {
        arrivals_.push_back({*job.segment, at});
    }
    job.calls.clear();
    const Lock lock(mutex_);
    if (job.segment) done_[*job.segment] = 1;
    if (job.stream) {
        queues_[*job.stream].busy = false;
        ++queues_[*job.stream].next;
    }
    if (!job.segment) --unfinished_;
    computing_.notify_one();
}

// What another thread's work must come before stays where it is.
std::vector<ExchangeLoop::Job> ExchangeLoop::take_startable() {
    std::vector<Job> all = std::exchange(submitted_, {}), startable;
    for (Job& job : all) (device_.reached(job.after) ? startable : submitted_).push_back(std::move(job));
    return startable;
}

// Whether anything came to its end or began.
bool ExchangeLoop::progress(Lock& lock) {
    const bool completed = take_completed();
    start_streams(lock);
    std::vector<Job> begun = take_startable();
    lock.unlock();
    for (Job& job : begun) {
        job.start = now();
        advance(jobs_.insert(jobs_.end(), std::move(job)));
    }
    std::vector<Ticket> ended;
    if (!active_.empty()) transport_.poll(ended);
    for (const Ticket t : ended) {
        const JobPlace job = active_.at(t);
        active_.erase(t);
        --job->active;
        advance(job);
    }
    lock.lock();
    return completed || !begun.empty() || !ended.empty();
}

void ExchangeLoop::rest(Lock& lock) {
    const bool device_works = !completing_.empty() || !submitted_.empty();
    if (active_.empty() && !device_works) {
        communicating_.wait(lock, [&] { return stopped_ || has_work(); });
    } else if (idle_) {
        lock.unlock();
        std::this_thread::yield();
        lock.lock();
    } else {
        const bool collective = std::ranges::any_of(
            jobs_, [](const Job& j) { return j.active > 0 && !std::holds_alternative<MessageCall>(j.calls[j.next - 1]); });
        const Seconds rest = collective || device_works ? between_questions : backoff_.rest(now(), between_messages);
        communicating_.wait_for(lock, to_chrono(rest));
    }
}

void ExchangeLoop::serve() {
    Lock lock(mutex_);
    try {
        while (!stopped_)
            if (progress(lock))
                backoff_.begin(now());
            else
                rest(lock);
    } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        failure_ = std::current_exception();
        stopped_ = true;
    }
    computing_.notify_all();
    if (failure_) std::rethrow_exception(failure_);
}

}  // namespace sextant
