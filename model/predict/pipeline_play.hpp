// Plays schedules pass by pass whose stages wait for each other in a way that no formula follows. Internal to predict.
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
    Seconds forward;         // all of it,
    Seconds early;           // and the part that is done before its input arrives
    Seconds backward;        // where backward is split: up to the gradient of the input
    Seconds early_backward;  // the part that is done before its input arrives
    Seconds late;            // the part that is done when its result is on the way
    Seconds weights;         // where backward is split: the gradients of weights
    Seconds send_forward;    // to the next virtual stage, where another stage has it
    Seconds send_backward;   // to the one before
    Seconds first, last;     // how much longer the first forward and the last backward take

    friend bool operator==(const ChunkTimes&, const ChunkTimes&) = default;
};

// Most chunks, and most stages, are like the one before.
struct PlayedPipeline {
    std::span<const ChunkTimes> chunk_kinds;
    std::span<const std::size_t> kind_of_chunk;  // by kind of stage and chunk
    std::span<const std::size_t> kind_of_stage;  // by stage
    bool sends_block = false;                    // a sender does nothing else meanwhile
    std::span<Seconds> ends;                     // the answer, by stage: when it has done all its work

    [[nodiscard]] std::span<const std::size_t> chunks_of(std::size_t stage, std::size_t chunks) const {
        return kind_of_chunk.subspan(kind_of_stage[stage] * chunks, chunks);
    }
};

// A schedule made ready to be played many times with different times: its work in one row, in which nothing comes before what it waits for.
class PlayedSchedule {
public:
    PlayedSchedule(Schedule, int stages, int chunks, std::int64_t micro_batches, bool forward_only);

    // Once the pipeline is full, each further micro-batch takes every stage the same time, so only this many are played. A schedule made
    // ready for this number serves for `micro_batches`.
    static std::int64_t alike(Schedule, int stages, std::int64_t micro_batches);

private:
    // A stage begins when it is free and its input has arrived; what it makes arrives elsewhere. `stage`, `sender`, `from` and `to` are
    // indices of times that a play keeps: when stages are free, when their senders (ahead and back) are, and arrivals.
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
    bool splits_;                         // some or all backwards are split into gradients of inputs and of weights
    int few_, more_;                      // numbers of micro-batches
    std::vector<Step> of_few_, of_more_;  // the latter where some are not played
    std::size_t alike_ = 0;               // how many steps both begin with
};

// Schedules made ready, each one once for all threads of a search.
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
    // All pipelines send in the same way. `micro_batches`: a number that the schedule serves for (PlayedSchedule::alike).
    void play(const PlayedSchedule&, std::span<const PlayedPipeline>, std::int64_t micro_batches);

private:
    class SideBySide;
    std::unique_ptr<SideBySide> some_;
};

}  // namespace sextant
