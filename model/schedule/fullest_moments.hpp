// When a stage may hold most, whatever its micro-batches weigh: for schedules in which no formula says it.
#pragma once

#include "model/schedule/schedule.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

namespace sextant {

// While `chunk` goes back, or when it has just gone forward.
struct StageMoment {
    WorkKind work = WorkKind::forward;
    std::size_t chunk = 0;
    // By chunk: micro-batches that have gone forward and not all the way back; and of these, those with the gradients of their inputs and
    // not of the weights.
    std::vector<int> waiting, halfway;
};

struct FullestMoments {
    std::vector<StageMoment> moments;  // none with less of everything than another in which the same is at work
    int waiting_in_last_chunk = 0;     // at most
};
FullestMoments fullest_moments(Schedule, int stage, int stages, int chunks, int micro_batches);

// Each of them worked out once, for any number of threads.
class KnownMoments {
public:
    // Preconditions: those of work_order(), but for `micro_batches`, of which there may be any number.
    const FullestMoments& of(Schedule, int stage, int stages, int chunks, std::int64_t micro_batches);

private:
    std::mutex mutex_;
    std::map<std::tuple<Schedule, int, int, int, int>, FullestMoments> known_;
};

}  // namespace sextant
