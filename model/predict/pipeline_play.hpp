// Schedules whose stages wait for each other in turns that no formula follows, played with what each pass takes. Internal to predict.
#pragma once

#include "model/base/quantity.hpp"
#include "model/schedule/schedule.hpp"

#include <span>
#include <vector>

namespace sextant {

// What a stage does for one micro-batch in one of its chunks.
struct ChunkTimes {
    Seconds early, ahead;      // of forward: what is done before its input arrives; all of it
    Seconds early_back, back;  // of backward, or of the part that makes the gradient of the input
    Seconds late;              // of that: what is done when its result is on the way
    Seconds weights;           // what a zero-bubble schedule leaves for later
    Seconds send_ahead;        // to the next virtual stage
    Seconds send_back;         // to the one before
    Seconds first, last;       // more in the first forward and the last backward
};

struct PlayedPipeline {
    std::vector<std::vector<ChunkTimes>> stages;  // by stage, by chunk
    bool sends_block = false;                     // the sender does nothing else meanwhile
    bool forward_only = false;
};

// When each stage has done all its work.
std::vector<Seconds> play(const PlayedPipeline&, std::span<const std::vector<WorkItem>> orders, int micro_batches);

}  // namespace sextant
