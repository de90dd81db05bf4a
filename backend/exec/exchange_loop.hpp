// The thread of a rank that communicates, while another computes.
//
// It starts each stream's segments in order, as soon as what they wait for is done, and polls the exchanges under way: message passing
// hardly progresses by itself. It polls rarely while the other thread computes, to leave it the cores, and all the time while that waits.
#pragma once

#include "backend/exec/poll_backoff.hpp"
#include "backend/exec/recorder.hpp"
#include "backend/exec/transport.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <utility>

namespace sextant {

class ExchangeLoop {
public:
    // What a segment in a stream beside the compute stream calls, asked for when it starts.
    using Prepare = std::function<std::vector<Call>(SegmentIndex)>;

    ExchangeLoop(const TaskGraph&, GraphRank, ComputeDevice&, Transport&, Prepare);

    // For the thread that computes. Calls that wait throw BackendError once the loop has ended; serve() throws what ended it.
    void begin_step();
    void receive(SegmentIndex, std::vector<Call>);  // the segment of another rank is done when these calls are
    void complete(SegmentIndex, const Mark&);       // the segment is done when the device has reached the mark
    void wait(SegmentIndex);
    [[nodiscard]] bool is_done(SegmentIndex);
    void run(std::vector<Call>, const Mark& after);  // starts when the device has reached the mark, and waits
    void end_step();                                 // waits until all streams are through
    void stop(std::exception_ptr);

    // For the thread that communicates; returns after stop(). Throws the exception given to stop(), or what a call threw.
    void serve();

    // What was recorded in the step that ended.
    std::vector<RecordedSpan> take_spans() { return std::exchange(spans_, {}); }
    std::vector<RecordedArrival> take_arrivals() { return std::exchange(arrivals_, {}); }

private:
    struct Job {
        std::vector<Call> calls;
        Mark after{};
        std::size_t next = 0, active = 0;
        std::optional<SegmentIndex> segment{};  // none of run()
        std::optional<std::size_t> stream{};    // of segment, where it is this rank's own
        Seconds start{};
    };
    struct Completion {
        SegmentIndex segment;
        Mark after;
    };
    struct Queue {
        std::vector<SegmentIndex> segments;
        std::size_t next = 0;
        bool busy = false;
    };
    using Lock = std::unique_lock<std::mutex>;

    [[nodiscard]] bool ready(SegmentIndex) const;
    [[nodiscard]] bool has_work() const;  // of the thread that communicates, beside what it has begun
    void start_streams(Lock&);
    [[nodiscard]] std::vector<Job> take_startable();
    bool take_completed();
    using JobPlace = std::list<Job>::iterator;
    void advance(JobPlace);
    void finish(Job&);
    bool progress(Lock&);
    void rest(Lock&);
    void wait_until(const std::function<bool()>&);

    const TaskGraph& graph_;
    ComputeDevice& device_;
    Transport& transport_;
    Prepare prepare_;
    std::vector<RecordedSpan> spans_;
    std::vector<RecordedArrival> arrivals_;
    std::array<Queue, stream_count> queues_;

    std::mutex mutex_;
    std::condition_variable computing_, communicating_;
    std::vector<char> done_;  // by segment
    std::vector<Job> submitted_;
    std::deque<Completion> completing_;  // segments whose work the device has not done yet
    std::size_t unfinished_ = 0;         // of run()
    bool idle_ = false;                  // the other thread waits
    bool stopped_ = false;
    std::exception_ptr failure_;

    // Of the thread that communicates alone.
    PollBackoff backoff_;
    std::list<Job> jobs_;
    std::map<Ticket, JobPlace> active_;
};

}  // namespace sextant
