#include "model/predict/pipeline_play.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace sextant {
namespace {

// What may be different of a chunk's work, besides its micro-batch.
enum Work : std::uint32_t { first_forward, forward, backward, last_backward, weights, last_weights, work_count };
constexpr std::uint32_t nothing_to_wait_for = 0, nobody_waits = 1;

// Pipelines are played so many at once: the processor waits for one sum after another, and has time for several.
constexpr std::size_t side_by_side = 4;
struct Times {
    std::array<Seconds, side_by_side> of{};

    friend Times operator+(const Times& a, const Times& b) {
        Times sum;
        for (std::size_t i = 0; i < side_by_side; ++i) sum.of[i] = a.of[i] + b.of[i];
        return sum;
    }
    friend Times max(const Times& a, const Times& b) {
        Times later;
        for (std::size_t i = 0; i < side_by_side; ++i) later.of[i] = a.of[i] < b.of[i] ? b.of[i] : a.of[i];
        return later;
    }
};
struct WorkTimes {
    Times early, rest, late, send;
    void set(std::size_t pipeline, Seconds before_arrival, Seconds all, Seconds after_sending, Seconds sending) {
        early.of[pipeline] = before_arrival;
        rest.of[pipeline] = all - before_arrival - after_sending;
        late.of[pipeline] = after_sending;
        send.of[pipeline] = sending;
    }
};

void set_times(std::array<WorkTimes, work_count>& work, std::size_t pipeline, const ChunkTimes& t) {
    work[first_forward].set(pipeline, t.early, t.ahead + t.first, {}, t.send_ahead);
    work[forward].set(pipeline, t.early, t.ahead, {}, t.send_ahead);
    work[backward].set(pipeline, t.early_back, t.back, t.late, t.send_back);
    work[last_backward].set(pipeline, t.early_back, t.back + t.last, t.late, t.send_back);
    work[weights].set(pipeline, {}, t.weights, {}, {});
    work[last_weights].set(pipeline, {}, t.weights + t.last, {}, {});
}

}  // namespace

// Puts the work of all stages in a row: each stage goes on until what it needs has not been made yet.
class PlayedOrder::Row {
public:
    Row(PlayedOrder& order, std::span<const std::vector<WorkItem>> of_stages)
        : order_(order),
          of_stages_(of_stages),
          virtual_stages_(order.stages_ * order.chunks_),
          ahead_(virtual_stages_ * micro_batches(), not_yet),
          back_(virtual_stages_ * micro_batches(), not_yet),
          next_(order.stages_),
          forwards_(virtual_stages_),
          backwards_(virtual_stages_) {}

    // One step of each stage in turn, so that few of them wait for the one before.
    void fill() {
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t s = 0; s < next_.size(); ++s)
                if (next_[s] < of_stages_[s].size() && go_on(s, of_stages_[s][next_[s]])) ++next_[s], moved = true;
        }
        order_.arrivals_ = arrivals_;
    }

private:
    static constexpr std::uint32_t not_yet = std::numeric_limits<std::uint32_t>::max();

    [[nodiscard]] std::size_t micro_batches() const { return static_cast<std::size_t>(order_.micro_batches_); }

    bool go_on(std::size_t stage, const WorkItem& item) {
        const std::size_t chunk = static_cast<std::size_t>(item.chunk), here = chunk * order_.stages_ + stage;
        const auto at = [&](std::size_t virtual_stage) {
            return virtual_stage * micro_batches() + static_cast<std::size_t>(item.micro_batch);
        };
        const auto add = [&](Work work, bool goes_back, std::uint32_t from, std::uint32_t to) {
            order_.steps_.push_back({static_cast<std::uint32_t>(stage * order_.chunks_ + chunk) * work_count + work,
                                     static_cast<std::uint16_t>(stage), static_cast<std::uint16_t>(2 * stage + goes_back), from, to});
        };
        const bool ends = backwards_[here] + 1 == order_.micro_batches_;
        switch (item.kind) {
            case WorkKind::forward: {
                const std::optional<std::uint32_t> from = here > 0 ? take(ahead_[at(here - 1)]) : nothing_to_wait_for;
                if (!from) return false;
                const std::uint32_t to = here + 1 < virtual_stages_ ? ahead_[at(here)] = new_arrival() : nobody_waits;
                add(forwards_[here]++ == 0 ? first_forward : forward, false, *from, to);
                return true;
            }
            case WorkKind::backward:
            case WorkKind::backward_input: {
                const std::optional<std::uint32_t> from = here + 1 < virtual_stages_ ? take(back_[at(here + 1)]) : nothing_to_wait_for;
                if (!from) return false;
                const std::uint32_t to = here > 0 ? back_[at(here)] = new_arrival() : nobody_waits;
                const bool whole = item.kind == WorkKind::backward;
                add(ends && whole ? last_backward : backward, true, *from, to);
                if (whole) ++backwards_[here];
                return true;
            }
            case WorkKind::backward_weight:
                add(ends ? last_weights : weights, true, nothing_to_wait_for, nobody_waits);
                ++backwards_[here];
                return true;
        }
        return true;
    }

    // Each arrival is waited for once; then its place is free for another.
    std::optional<std::uint32_t> take(std::uint32_t arrival) {
        if (arrival == not_yet) return {};
        free_.push_back(arrival);
        return arrival;
    }
    std::uint32_t new_arrival() {
        if (free_.empty()) return arrivals_++;
        const std::uint32_t arrival = free_.back();
        free_.pop_back();
        return arrival;
    }

    PlayedOrder& order_;
    std::span<const std::vector<WorkItem>> of_stages_;
    std::size_t virtual_stages_;
    std::vector<std::uint32_t> ahead_, back_;  // by virtual stage, by micro-batch: where what it makes arrives
    std::vector<std::size_t> next_;            // by stage
    std::vector<int> forwards_, backwards_;    // by virtual stage: passes begun
    std::vector<std::uint32_t> free_;
    std::uint32_t arrivals_ = nobody_waits + 1;
};

PlayedOrder::PlayedOrder(std::span<const std::vector<WorkItem>> of_stages, int chunks, int micro_batches, bool forward_only)
    : micro_batches_(micro_batches), stages_(of_stages.size()), chunks_(static_cast<std::size_t>(chunks)) {
    std::vector<std::vector<WorkItem>> orders(of_stages.begin(), of_stages.end());
    for (std::vector<WorkItem>& order : orders)
        std::erase_if(order, [&](const WorkItem& w) { return forward_only && w.kind != WorkKind::forward; });
    Row(*this, orders).fill();
}

std::vector<std::vector<Seconds>> PlayedOrder::play(std::span<const PlayedPipeline> pipelines) const {
    std::vector<std::vector<Seconds>> ends;
    std::vector<std::array<WorkTimes, work_count>> chunk_work(stages_ * chunks_);
    std::vector<Times> free(stages_), sender(2 * stages_), arrival(arrivals_);
    for (std::size_t first = 0; first < pipelines.size(); first += side_by_side) {
        const auto some = pipelines.subspan(first, std::min(side_by_side, pipelines.size() - first));
        for (std::size_t i = 0; i < some.size(); ++i)
            for (std::size_t s = 0; s < stages_; ++s)
                for (std::size_t c = 0; c < chunks_; ++c) set_times(chunk_work[s * chunks_ + c], i, some[i].stages[s][c]);
        std::ranges::fill(free, Times{});
        std::ranges::fill(sender, Times{});
        arrival[nothing_to_wait_for] = {};
        const WorkTimes* work = chunk_work.front().data();
        if (some.front().sends_block) {
            for (const Step& step : steps_) {
                const WorkTimes& w = work[step.work];
                const Times sent = max(free[step.stage] + w.early, arrival[step.from]) + w.rest + w.send;
                arrival[step.to] = sent;
                free[step.stage] = sent + w.late;
            }
        } else {
            for (const Step& step : steps_) {
                const WorkTimes& w = work[step.work];
                const Times done = max(free[step.stage] + w.early, arrival[step.from]) + w.rest;
                const Times sent = max(sender[step.sender], done) + w.send;
                sender[step.sender] = arrival[step.to] = sent;
                free[step.stage] = done + w.late;
            }
        }
        for (std::size_t i = 0; i < some.size(); ++i) {
            std::vector<Seconds>& of_stages = ends.emplace_back();
            for (const Times& t : free) of_stages.push_back(t.of[i]);
        }
    }
    return ends;
}

}  // namespace sextant
