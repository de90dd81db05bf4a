#include "model/schedule/fullest_moments.hpp"

#include <algorithm>

namespace sextant {
namespace {

bool has_as_much(const std::vector<int>& a, const std::vector<int>& b) { return std::ranges::equal(a, b, std::greater_equal<>()); }

// Nothing is at work that could need room when a forward is over.
bool is_as_full(const StageMoment& a, const StageMoment& b) {
    const bool same_work = b.work == WorkKind::forward || (a.work == b.work && a.chunk == b.chunk);
    return same_work && has_as_much(a.waiting, b.waiting) && has_as_much(a.halfway, b.halfway);
}

void add(const StageMoment& moment, std::vector<StageMoment>& fullest) {
    if (std::ranges::any_of(fullest, [&](const StageMoment& m) { return is_as_full(m, moment); })) return;
    std::erase_if(fullest, [&](const StageMoment& m) { return is_as_full(moment, m); });
    fullest.push_back(moment);
}

}  // namespace

FullestMoments fullest_moments(Schedule schedule, int stage, int stages, int chunks, int micro_batches) {
    const auto n = static_cast<std::size_t>(chunks);
    StageMoment now{.waiting = std::vector<int>(n), .halfway = std::vector<int>(n)};
    FullestMoments found;
    for (const WorkItem& item : work_order(schedule, stage, stages, chunks, micro_batches)) {
        now.work = item.kind;
        now.chunk = static_cast<std::size_t>(item.chunk);
        if (item.kind == WorkKind::forward) ++now.waiting[now.chunk];
        if (item.kind == WorkKind::backward_input) ++now.halfway[now.chunk];
        if (item.kind == WorkKind::backward_weight) --now.halfway[now.chunk];
        if (item.kind != WorkKind::backward_weight) add(now, found.moments);
        if (item.kind == WorkKind::backward || item.kind == WorkKind::backward_weight) --now.waiting[now.chunk];
        found.waiting_in_last_chunk = std::max(found.waiting_in_last_chunk, now.waiting.back());
    }
    return found;
}

const FullestMoments& KnownMoments::of(Schedule schedule, int stage, int stages, int chunks, std::int64_t micro_batches) {
    const auto played = static_cast<int>(std::min(micro_batches, micro_batches_until_full(stages)));
    const std::lock_guard lock(mutex_);
    const auto [entry, is_new] = known_.try_emplace({schedule, stage, stages, chunks, played});
    if (is_new) entry->second = fullest_moments(schedule, stage, stages, chunks, played);
    return entry->second;
}

}  // namespace sextant
