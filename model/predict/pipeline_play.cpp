#include "model/predict/pipeline_play.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace sextant {
namespace {

// How the work of a chunk can differ, apart from its micro-batch.
enum PassWork : std::uint8_t { first_forward, forward, backward, last_backward, input, weights, last_weights, work_count };

// How many pipelines are played at once: each is a chain of sums that wait for one another, and the processor has time for several.
constexpr std::size_t pipelines_at_once = 8;
// Compiled for each kind of vector unit; the processor that runs it chooses. It only adds and compares,
// so all versions give the same result.
#if defined(__x86_64__)
#define SEXTANT_FOR_EACH_VECTOR_UNIT __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SEXTANT_FOR_EACH_VECTOR_UNIT
#endif
struct alignas(64) Times {
    std::array<Seconds, pipelines_at_once> of{};

    friend Times operator+(const Times& a, const Times& b) {
        Times sum;
        for (std::size_t i = 0; i < pipelines_at_once; ++i) sum.of[i] = a.of[i] + b.of[i];
        return sum;
    }
    friend Times max(const Times& a, const Times& b) {
        Times later;
        for (std::size_t i = 0; i < pipelines_at_once; ++i) later.of[i] = a.of[i] < b.of[i] ? b.of[i] : a.of[i];
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

void set_times(WorkTimes* work, std::size_t pipeline, const ChunkTimes& t, bool splits) {
    const Seconds whole = t.backward + t.weights;
    work[first_forward].set(pipeline, t.early, t.forward + t.first, {}, t.send_forward);
    work[forward].set(pipeline, t.early, t.forward, {}, t.send_forward);
    work[backward].set(pipeline, t.early_backward, whole, t.late, t.send_backward);
    work[last_backward].set(pipeline, t.early_backward, whole + t.last, t.late, t.send_backward);
    if (!splits) return;
    work[input].set(pipeline, t.early_backward, t.backward, t.late, t.send_backward);
    work[weights].set(pipeline, {}, t.weights, {}, {});
    work[last_weights].set(pipeline, {}, t.weights + t.last, {}, {});
}

}  // namespace

class PlayedSchedule::Row {
public:
    Row(std::span<const std::vector<WorkItem>> of_stages, const VirtualStages& where, int micro_batches)
        : of_stages_(of_stages),
          where_(where),
          chunks_(where.size() / of_stages.size()),
          micro_batches_(micro_batches),
          ahead_(where.size() * static_cast<std::size_t>(micro_batches), not_yet),
          back_(ahead_),
          next_(of_stages.size()),
          forwards_(where.size()),
          backwards_(where.size()),
          nothing_to_wait_for_(static_cast<std::uint32_t>(3 * of_stages.size())),
          nobody_waits_(nothing_to_wait_for_ + 1),
          times_(nobody_waits_ + 1) {
        // One step of each stage in turn, so that few of them wait for the one before.
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t s = 0; s < next_.size(); ++s)
                if (next_[s] < of_stages_[s].size() && go_on(s, of_stages_[s][next_[s]])) {
                    ++next_[s];
                    moved = true;
                }
        }
    }

    [[nodiscard]] std::vector<Step> steps() && { return std::move(steps_); }
    [[nodiscard]] std::size_t times() const { return times_; }

private:
    static constexpr std::uint32_t not_yet = std::numeric_limits<std::uint32_t>::max();

    // Whether what it needs has been made.
    bool go_on(std::size_t stage, const WorkItem& item) {
        const std::size_t chunk = static_cast<std::size_t>(item.chunk), here = where_.at(stage, chunk);
        const auto at = [&](std::size_t virtual_stage) {
            return virtual_stage * static_cast<std::size_t>(micro_batches_) + static_cast<std::size_t>(item.micro_batch);
        };
        const auto add = [&](PassWork work, bool gradients, std::uint32_t from, std::uint32_t to) {
            const bool to_previous = gradients != where_.goes_back(chunk);
            const std::size_t sender = of_stages_.size() + 2 * stage + (to_previous ? 1 : 0);
            steps_.push_back({static_cast<std::uint32_t>(stage * chunks_ + chunk), work, static_cast<std::uint16_t>(stage),
                              static_cast<std::uint16_t>(sender), from, to});
        };
        const bool ends = backwards_[here] + 1 == micro_batches_;
        switch (item.kind) {
            case WorkKind::forward: {
                const std::optional<std::uint32_t> from = here > 0 ? take(ahead_[at(here - 1)]) : nothing_to_wait_for_;
                if (!from) return false;
                const std::uint32_t to = here + 1 < where_.size() ? ahead_[at(here)] = new_arrival() : nobody_waits_;
                add(forwards_[here]++ == 0 ? first_forward : forward, false, *from, to);
                return true;
            }
            case WorkKind::backward:
            case WorkKind::backward_input: {
                const std::optional<std::uint32_t> from = here + 1 < where_.size() ? take(back_[at(here + 1)]) : nothing_to_wait_for_;
                if (!from) return false;
                const std::uint32_t to = here > 0 ? back_[at(here)] = new_arrival() : nobody_waits_;
                const bool whole = item.kind == WorkKind::backward;
                add(!whole ? input : ends ? last_backward : backward, true, *from, to);
                if (whole) ++backwards_[here];
                return true;
            }
            case WorkKind::backward_weight:
                add(ends ? last_weights : weights, true, nothing_to_wait_for_, nobody_waits_);
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
        if (free_.empty()) return times_++;
        const std::uint32_t arrival = free_.back();
        free_.pop_back();
        return arrival;
    }

    std::span<const std::vector<WorkItem>> of_stages_;
    const VirtualStages& where_;
    std::size_t chunks_;
    int micro_batches_;
    std::vector<std::uint32_t> ahead_, back_;  // by virtual stage, by micro-batch: where what it makes arrives
    std::vector<std::size_t> next_;            // by stage
    std::vector<int> forwards_, backwards_;    // by virtual stage: passes begun
    std::vector<std::uint32_t> free_;
    std::uint32_t nothing_to_wait_for_, nobody_waits_, times_;
    std::vector<Step> steps_;
};

// Some pipelines, played at once.
class PipelinePlayer::SideBySide {
public:
    using Step = PlayedSchedule::Step;

    void set(const PlayedSchedule& schedule) {
        chunks_ = schedule.chunks_;
        splits_ = schedule.splits_;
        where_ = schedule.where_;
        works_of_.resize(schedule.stages_ * chunks_);
        stages_ = schedule.stages_;
        few_.resize(schedule.times_);
    }
    void set(std::span<const PlayedPipeline> some) {
        sends_block_ = some.front().sends_block;
        works_.clear();
        for (std::size_t s = 0; s < stages_; ++s) {
            const auto which = works_of_.begin() + static_cast<std::ptrdiff_t>(s * chunks_);
            if (s > 1 && s + 1 < stages_ && is_as_before(some, s)) {
                std::copy_n(which - static_cast<std::ptrdiff_t>(chunks_), chunks_, which);
                continue;
            }
            for (std::size_t c = 0; c < chunks_; ++c) {
                const bool at_end = (s == 0 && c < 2) || (s + 1 == stages_ && c + 1 == chunks_);
                if (at_end || c == 0 || !is_as_before(some, s, c)) add_works(some, s, c);
                which[static_cast<std::ptrdiff_t>(c)] = works_.size() - work_count;
            }
        }
    }

    void play(const PlayedSchedule& schedule) {
        const std::span<const Step> few = schedule.of_few_, more = schedule.of_more_;
        std::fill_n(few_.begin(), 3 * stages_ + 1, Times{});  // an arrival is written before it is waited for
        play(few.first(schedule.alike_), {});
        if (!more.empty()) more_ = few_;
        play(few.subspan(schedule.alike_), more.subspan(schedule.alike_));
    }
    // When each stage has done all its work.
    [[nodiscard]] std::span<const Times> ends_of_few() const { return std::span(few_).first(stages_); }
    [[nodiscard]] std::span<const Times> ends_of_more() const { return std::span(more_).first(stages_); }

private:
    // What is alike is read from one place.
    [[nodiscard]] static bool is_as_before(std::span<const PlayedPipeline> some, std::size_t stage) {
        return std::ranges::all_of(some, [&](const PlayedPipeline& p) { return p.kind_of_stage[stage] == p.kind_of_stage[stage - 1]; });
    }
    [[nodiscard]] bool is_as_before(std::span<const PlayedPipeline> some, std::size_t stage, std::size_t chunk) const {
        return std::ranges::all_of(some, [&](const PlayedPipeline& p) {
            const auto chunks = p.chunks_of(stage, chunks_);
            return chunks[chunk] == chunks[chunk - 1];
        });
    }
    // A stage with nobody to send to sends nothing.
    void add_works(std::span<const PlayedPipeline> some, std::size_t stage, std::size_t chunk) {
        works_.resize(works_.size() + work_count);
        for (std::size_t i = 0; i < some.size(); ++i) {
            ChunkTimes t = some[i].chunk_kinds[some[i].chunks_of(stage, chunks_)[chunk]];
            if (!where_.is_handed(where_.at(stage, chunk))) t.send_backward = {};
            if (!where_.hands_on(where_.at(stage, chunk))) t.send_forward = {};
            set_times(&works_[works_.size() - work_count], i, t, splits_);
        }
    }

    // Both at once: each is a chain of sums, and the processor has time for both.
    void play(std::span<const Step> few, std::span<const Step> more) { sends_block_ ? play_blocking(few, more) : play_beside(few, more); }
    SEXTANT_FOR_EACH_VECTOR_UNIT void play_blocking(std::span<const Step> few, std::span<const Step> more) {
        const std::size_t both = std::min(few.size(), more.size());
        for (std::size_t i = 0; i < both; ++i) go_on_blocking(few_, few[i]), go_on_blocking(more_, more[i]);
        for (const Step& step : few.subspan(both)) go_on_blocking(few_, step);
        for (const Step& step : more.subspan(both)) go_on_blocking(more_, step);
    }
    SEXTANT_FOR_EACH_VECTOR_UNIT void play_beside(std::span<const Step> few, std::span<const Step> more) {
        const std::size_t both = std::min(few.size(), more.size());
        for (std::size_t i = 0; i < both; ++i) go_on_beside(few_, few[i]), go_on_beside(more_, more[i]);
        for (const Step& step : few.subspan(both)) go_on_beside(few_, step);
        for (const Step& step : more.subspan(both)) go_on_beside(more_, step);
    }
    [[gnu::always_inline]] inline void go_on_blocking(std::vector<Times>& times, const Step& step) const {
        const WorkTimes& w = works_[works_of_[step.place] + step.work];
        const Times sent = max(times[step.stage] + w.early, times[step.from]) + w.rest + w.send;
        times[step.to] = sent;
        times[step.stage] = sent + w.late;
    }
    [[gnu::always_inline]] inline void go_on_beside(std::vector<Times>& times, const Step& step) const {
        const WorkTimes& w = works_[works_of_[step.place] + step.work];
        const Times done = max(times[step.stage] + w.early, times[step.from]) + w.rest;
        const Times sent = max(times[step.sender], done) + w.send;
        times[step.sender] = sent;
        times[step.to] = sent;
        times[step.stage] = done + w.late;
    }

    std::vector<WorkTimes> works_;       // of the kinds of chunks in turn
    std::vector<std::size_t> works_of_;  // by stage, by chunk: where its own begin
    std::vector<Times> few_, more_;      // micro-batches: the times that steps name
    std::size_t stages_ = 1, chunks_ = 1;
    VirtualStages where_{Schedule::one_f_one_b, 1, 1};
    bool splits_ = false, sends_block_ = false;
};

namespace {

// How many micro-batches it takes to fill the pipeline. One that turns back is full when its first has come back to the first stage.
int rounds_to_fill(Schedule schedule) { return turns_back(schedule) ? 2 : 1; }

}  // namespace

PlayedSchedule::PlayedSchedule(Schedule schedule, int stages, int chunks, std::int64_t micro_batches, bool forward_only)
    : stages_(static_cast<std::size_t>(stages)),
      chunks_(static_cast<std::size_t>(chunks)),
      where_(schedule, stages, chunks),
      splits_(weights_apart(schedule) != WeightsApart::in_none) {
    const auto row = [&](int m) {
        std::vector<std::vector<WorkItem>> orders = work_orders(schedule, stages, chunks, m);
        for (std::vector<WorkItem>& order : orders)
            std::erase_if(order, [&](const WorkItem& w) { return forward_only && w.kind != WorkKind::forward; });
        Row filled(orders, where_, m);
        times_ = std::max(times_, filled.times());
        return std::move(filled).steps();
    };
    more_ = static_cast<int>(std::int64_t{rounds_to_fill(schedule) + 1} * stages + micro_batches % stages);
    few_ = micro_batches <= more_ ? static_cast<int>(micro_batches) : more_ - stages;
    of_few_ = row(few_);
    if (micro_batches > more_) of_more_ = row(more_);
    alike_ = static_cast<std::size_t>(std::ranges::mismatch(of_few_, of_more_).in1 - of_few_.begin());
}

std::int64_t PlayedSchedule::alike(Schedule schedule, int stages, std::int64_t micro_batches) {
    return std::min(micro_batches, std::int64_t{rounds_to_fill(schedule) + 2} * stages + micro_batches % stages);
}

std::shared_ptr<const PlayedSchedule> PlayedSchedules::find(Schedule schedule, int stages, int chunks, std::int64_t micro_batches,
                                                            bool forward_only) {
    const std::int64_t alike = PlayedSchedule::alike(schedule, stages, micro_batches);
    const std::lock_guard lock(mutex_);
    auto& found = all_[{schedule, stages, chunks, alike, forward_only}];
    if (!found) found = std::make_shared<PlayedSchedule>(schedule, stages, chunks, alike, forward_only);
    return found;
}

PipelinePlayer::PipelinePlayer() : some_(std::make_unique<SideBySide>()) {}
PipelinePlayer::~PipelinePlayer() = default;

void PipelinePlayer::play(const PlayedSchedule& schedule, std::span<const PlayedPipeline> pipelines, std::int64_t micro_batches) {
    some_->set(schedule);
    // Each further micro-batch takes as long as those between the few and the more that were played.
    const double further = static_cast<double>(micro_batches - schedule.few_) / (schedule.more_ - schedule.few_);
    for (std::size_t first = 0; first < pipelines.size(); first += pipelines_at_once) {
        const auto some = pipelines.subspan(first, std::min(pipelines_at_once, pipelines.size() - first));
        some_->set(some);
        some_->play(schedule);
        const std::span<const Times> few = some_->ends_of_few(), more = some_->ends_of_more();
        for (std::size_t i = 0; i < some.size(); ++i)
            for (std::size_t s = 0; s < few.size(); ++s) some[i].ends[s] = few[s].of[i];
        if (schedule.of_more_.empty()) continue;
        for (std::size_t i = 0; i < some.size(); ++i)
            for (std::size_t s = 0; s < more.size(); ++s) some[i].ends[s] += further * (more[s].of[i] - some[i].ends[s]);
    }
}

}  // namespace sextant
