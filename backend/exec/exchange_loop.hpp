// The thread of a rank that communicates, while another computes.
//
// It starts each stream's segments in their order, as soon as what they wait for is done, and moves all that is under way along by asking
// for it: message passing hardly progresses by itself. While the other thread computes it asks now and then only, to leave it the cores;
// while the other thread waits, all the time.
#pragma once

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

    // By the thread that computes. Those that wait throw BackendError once the loop has ended; what ended it, serve() throws.
    void begin_step();
    void receive(SegmentIndex, std::vector<Call>);  // what the other rank's segment sends: done with the last of the calls
    void complete(SegmentIndex, const Mark&);       // done as soon as the device has reached the mark
    void wait(SegmentIndex);
    [[nodiscard]] bool is_done(SegmentIndex);
    void run(std::vector<Call>, const Mark& after);  // starts once the device has reached the mark, and waits
    void end_step();                                 // waits until all streams have come to their end
    void stop(std::exception_ptr);

    // By the thread that communicates: until stop(). Throws what it was stopped with, or what a call threw.
    void serve();

    // Of the step that ended.
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
    void advance(Job&);
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
    std::list<Job> jobs_;
    std::map<Ticket, std::list<Job>::iterator> active_;
};

}  // namespace sextant
