#include "model/schedule/schedule.hpp"
#include "model/plan/virtual_stages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>

namespace sextant {
namespace {

struct Times {
    double forward = 1, backward = 2;  // of the whole stage; a chunk takes its share, a split backward half
};

// Plays the orders against their dependencies and gives the time at which the last item ends; none when they deadlock.
// Virtual stage r needs r - 1 to have gone forward, and r + 1 to have gone backward.
std::optional<double> makespan(const std::vector<std::vector<WorkItem>>& orders, const VirtualStages& where, const Times& times) {
    const int p = static_cast<int>(orders.size()), runs = static_cast<int>(where.size()), chunks = runs / p;
    std::map<std::tuple<bool, int, int>, double> done;  // {forward?, run, micro-batch} -> end
    std::vector<std::size_t> next(orders.size(), 0);
    std::vector<double> free_at(orders.size(), 0);
    for (bool moved = true; moved;) {
        moved = false;
        for (int s = 0; s < p; ++s) {
            const auto stage = static_cast<std::size_t>(s);
            while (next[stage] < orders[stage].size()) {
                const WorkItem& w = orders[stage][next[stage]];
                const int run = static_cast<int>(where.at(stage, static_cast<std::size_t>(w.chunk)));
                const bool forward = w.kind == WorkKind::forward;
                double ready = 0;
                if (w.kind != WorkKind::backward_weight) {
                    const int before = forward ? run - 1 : run + 1;
                    const bool end_of_line = forward ? run == 0 : run == runs - 1;
                    const auto it = end_of_line ? done.find({true, run, w.micro_batch}) : done.find({forward, before, w.micro_batch});
                    if (!(forward && end_of_line)) {
                        if (it == done.end()) break;
                        ready = it->second;
                    }
                }
                const double share = w.kind == WorkKind::forward    ? times.forward
                                     : w.kind == WorkKind::backward ? times.backward
                                                                    : times.backward / 2;
                free_at[stage] = std::max(free_at[stage], ready) + share / chunks;
                if (w.kind != WorkKind::backward_weight) done[{forward, run, w.micro_batch}] = free_at[stage];
                ++next[stage];
                moved = true;
            }
        }
    }
    for (std::size_t s = 0; s < orders.size(); ++s)
        if (next[s] != orders[s].size()) return std::nullopt;
    return *std::max_element(free_at.begin(), free_at.end());
}

struct Case {
    Schedule schedule;
    int p, v, m;
    double expected;  // with forward 1, backward 2
    std::string name;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class SchedulePlayed : public testing::TestWithParam<Case> {};

TEST_P(SchedulePlayed, TakesWhatTheClosedFormSays) {
    const Case& c = GetParam();
    const auto time = makespan(work_orders(c.schedule, c.p, c.v, c.m), VirtualStages(c.schedule, c.p, c.v), {});
    ASSERT_TRUE(time) << "the orders wait for each other";
    EXPECT_NEAR(*time, c.expected, 1e-9);
}

// f = 1, b = 2. Sequential: m p (f + b). GPipe, 1F1B: (m + p - 1)(f + b). Interleaved: m (f + b) + (p - 1)(f + b) / v.
// Zero bubble, b split in halves of 1: m (f + b) + (p - 1)(f + b/2 - b/2) = 3 m + p - 1. Those that turn back wait for the first forward to
// come through half a stage each, and for nothing else: 3 m + (p - 1)/2; with fewer micro-batches than fill them, they are no better.
INSTANTIATE_TEST_SUITE_P(Uniform, SchedulePlayed,
                         testing::Values(Case{Schedule::sequential, 4, 1, 3, 36, "Sequential"}, Case{Schedule::gpipe, 4, 1, 8, 33, "GPipe"},
                                         Case{Schedule::one_f_one_b, 4, 1, 8, 33, "OneFOneB"},
                                         Case{Schedule::one_f_one_b, 8, 1, 3, 30, "OneFOneBWithFewMicroBatches"},
                                         Case{Schedule::interleaved, 4, 2, 8, 28.5, "InterleavedTwice"},
                                         Case{Schedule::interleaved, 4, 4, 16, 50.25, "InterleavedFourTimes"},
                                         Case{Schedule::zero_bubble, 4, 1, 8, 27, "ZeroBubble"},
                                         Case{Schedule::zero_bubble, 8, 1, 32, 103, "ZeroBubbleOfEight"},
                                         Case{Schedule::zero_bubble_v, 4, 2, 8, 25.5, "ZeroBubbleThatTurnsBack"},
                                         Case{Schedule::zero_bubble_v, 8, 2, 32, 99.5, "ZeroBubbleOfEightThatTurnsBack"},
                                         Case{Schedule::zero_bubble_v, 4, 2, 4, 15, "ZeroBubbleThatTurnsBackWithFewMicroBatches"},
                                         Case{Schedule::dual_pipe_v, 4, 2, 8, 25.5, "DualPipe"},
                                         Case{Schedule::dual_pipe_v, 8, 2, 32, 99.5, "DualPipeOfEight"},
                                         Case{Schedule::dual_pipe_v, 4, 2, 4, 16.5, "DualPipeWithFewMicroBatches"},
                                         Case{Schedule::one_f_one_b, 1, 1, 5, 15, "OneStage"}),
                         [](const auto& instance) { return instance.param.name; });

TEST(Schedule, DoesEveryMicroBatchOnceForwardAndOnceBackwardInEveryChunk) {
    for (const auto& [schedule, v] : {std::pair{Schedule::gpipe, 1},
                                      {Schedule::one_f_one_b, 1},
                                      {Schedule::interleaved, 3},
                                      {Schedule::zero_bubble, 1},
                                      {Schedule::zero_bubble_v, 2},
                                      {Schedule::dual_pipe_v, 2},
                                      {Schedule::sequential, 1}}) {
        for (const int m : {1, 4, 8, 12}) {
            for (const auto& order : work_orders(schedule, 4, v, schedule == Schedule::interleaved ? 4 * m : m)) {
                // Forward, then backward as a whole or in two parts.
                std::map<std::pair<int, int>, std::string> passes;
                for (const WorkItem& w : order) passes[{w.chunk, w.micro_batch}] += "FBIW"[static_cast<int>(w.kind)];
                EXPECT_EQ(passes.size(), order.empty() ? 0 : static_cast<std::size_t>(v * (schedule == Schedule::interleaved ? 4 * m : m)));
                for (const auto& [where, done] : passes) {
                    const bool whole = done == "FB", apart = done == "FIW";
                    const WeightsApart parts = weights_apart(schedule);
                    EXPECT_TRUE((whole && parts != WeightsApart::in_all) || (apart && parts != WeightsApart::in_none)) << done;
                }
            }
        }
    }
}

// Peak of forwards done whose backward is not: what memory is charged for (model/predict/stage_memory.cpp).
TEST(Schedule, HoldsAsManyMicroBatchesAsMemoryIsChargedFor) {
    const auto peak = [](const std::vector<WorkItem>& order) {
        int alive = 0, most = 0;
        for (const WorkItem& w : order) {
            if (w.kind == WorkKind::forward) most = std::max(most, ++alive);
            if (w.kind == WorkKind::backward || w.kind == WorkKind::backward_weight) --alive;
        }
        return most;
    };
    for (int s = 0; s < 4; ++s) {
        const auto stage = static_cast<std::size_t>(s);
        EXPECT_EQ(peak(work_orders(Schedule::gpipe, 4, 1, 8)[stage]), 8);
        EXPECT_EQ(peak(work_orders(Schedule::one_f_one_b, 4, 1, 8)[stage]), 4 - s);
        EXPECT_EQ(peak(work_orders(Schedule::zero_bubble, 4, 1, 8)[stage]), 4);
        EXPECT_EQ(peak(work_orders(Schedule::interleaved, 4, 2, 8)[stage]), 2 * (4 - s - 1) + (2 - 1) * 4 + 1);
        // Chunks, half as large: as much as the first stage of 1F1B, on every stage.
        EXPECT_EQ(peak(work_orders(Schedule::zero_bubble_v, 4, 2, 8)[stage]), 2 * 4);
        EXPECT_EQ(peak(work_orders(Schedule::dual_pipe_v, 4, 2, 8)[stage]), 2 * 4 + 1);
    }
}

}  // namespace
}  // namespace sextant
