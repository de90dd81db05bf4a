// Schedules whose stages wait for each other in turns that no formula follows, played with what each pass takes. Internal to predict.
#pragma once

#include "model/base/quantity.hpp"
#include "model/plan/virtual_stages.hpp"
#include "model/schedule/schedule.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

namespace sextant {

// What a stage does for one micro-batch in one of its chunks.
struct ChunkTimes {
    Seconds early, forward;            // of forward: what is done before its input arrives; all of it
    Seconds early_backward, backward;  // of backward; where it comes in two parts, of that which makes the gradient of the input
    Seconds late;                      // of that: what is done when its result is on the way
    Seconds weights;                   // the other part
    Seconds send_forward;              // to the next virtual stage, where another stage has it
    Seconds send_backward;             // to the one before
    Seconds first, last;               // more in the first forward and the last backward

    friend bool operator==(const ChunkTimes&, const ChunkTimes&) = default;
};

// Most chunks are like the one before, and most stages.
struct PlayedPipeline {
    std::span<const ChunkTimes> unlike_chunks;
    std::span<const std::size_t> which_chunk;  // of these, by unlike stage, by chunk
    std::span<const std::size_t> which_stage;  // of the unlike ones, by stage
    bool sends_block = false;                  // the sender does nothing else meanwhile
    std::span<Seconds> ends;                   // by stage, the answer: when it has done all its work

    [[nodiscard]] std::span<const std::size_t> chunks_of(std::size_t stage, std::size_t chunks) const {
        return which_chunk.subspan(which_stage[stage] * chunks, chunks);
    }
};

// A schedule made ready to be played with many times: its work is put in one row in which nothing comes before what it waits for.
class PlayedSchedule {
public:
    PlayedSchedule(Schedule, int stages, int chunks, std::int64_t micro_batches, bool forward_only);

    // Once the pipeline is full, each further micro-batch for every stage costs the same: so many are played alike. What has been made
    // ready for this number serves for `micro_batches`.
    static std::int64_t alike(Schedule, int stages, std::int64_t micro_batches);

private:
    // A stage begins when it is free and an arrival is there; what it makes arrives elsewhere. All but the first two are numbers of times
    // that a play keeps: when stages are free, when their senders ahead and back are, and arrivals.
    struct Step {
        std::uint32_t place = 0;  // chunk by chunk of each stage in turn
        std::uint16_t work = 0;
        std::uint16_t stage = 0, sender = 0;
        std::uint32_t from = 0, to = 0;
        friend bool operator==(const Step&, const Step&) = default;
    };
    class Row;
    friend class PipelinePlayer;

    std::size_t stages_, chunks_, times_ = 0;
    VirtualStages where_;
    bool splits_;                         // backward into gradients of inputs and of weights, now and then or always
    int few_, more_;                      // micro-batches
    std::vector<Step> of_few_, of_more_;  // the latter where some are not played
    std::size_t alike_ = 0;               // steps that both begin with
};

// Schedules made ready, each once for all threads of a search.
class PlayedSchedules {
public:
    std::shared_ptr<const PlayedSchedule> find(Schedule, int stages, int chunks, std::int64_t micro_batches, bool forward_only);

private:
    std::mutex mutex_;
    std::map<std::tuple<Schedule, int, int, std::int64_t, bool>, std::shared_ptr<const PlayedSchedule>> all_;
};

// Plays many pipelines, one schedule after another.
class PipelinePlayer {
public:
    PipelinePlayer();
    ~PipelinePlayer();
    // All pipelines send alike. `micro_batches`: as many as the schedule serves for.
    void play(const PlayedSchedule&, std::span<const PlayedPipeline>, std::int64_t micro_batches);

private:
    class SideBySide;
    std::unique_ptr<SideBySide> some_;
};

}  // namespace sextant
