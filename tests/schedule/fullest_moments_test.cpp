#include "model/schedule/fullest_moments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sextant {
namespace {

// What a micro-batch has in a chunk, and what the chunk needs at work.
struct Weights {
    double waiting, halfway, backward, backward_input;
};

double most_in_order(const std::vector<WorkItem>& order, const std::vector<Weights>& chunks) {
    double now = 0, most = 0;
    for (const WorkItem& item : order) {
        const Weights& chunk = chunks[static_cast<std::size_t>(item.chunk)];
        if (item.kind == WorkKind::forward) most = std::max(most, now += chunk.waiting);
        if (item.kind == WorkKind::backward) most = std::max(most, now + chunk.backward), now -= chunk.waiting;
        if (item.kind == WorkKind::backward_input) most = std::max(most, (now += chunk.halfway) + chunk.backward_input);
        if (item.kind == WorkKind::backward_weight) now -= chunk.waiting + chunk.halfway;
    }
    return most;
}

double most_of_moments(const FullestMoments& found, const std::vector<Weights>& chunks) {
    double most = 0;
    for (const StageMoment& m : found.moments) {
        double now = 0;
        for (std::size_t c = 0; c < chunks.size(); ++c) now += m.waiting[c] * chunks[c].waiting + m.halfway[c] * chunks[c].halfway;
        if (m.work == WorkKind::backward) now += chunks[m.chunk].backward;
        if (m.work == WorkKind::backward_input) now += chunks[m.chunk].backward_input;
        most = std::max(most, now);
    }
    return most;
}

TEST(FullestMoments, ShowTheMostOfTheOrderWhateverMicroBatchesWeigh) {
    std::mt19937 random(1);
    std::uniform_int_distribution<int> weight(0, 20);
    std::size_t moments = 0, items = 0;
    for (const auto& [schedule, chunks] : {std::pair{Schedule::interleaved, 3}, std::pair{Schedule::zero_bubble, 1},
                                           std::pair{Schedule::zero_bubble_v, 2}, std::pair{Schedule::dual_pipe_v, 2}})
        for (const int stages : {1, 2, 4})
            for (int stage = 0; stage < stages; ++stage)
                for (const int micro_batches : {stages, 2 * stages, 8 * stages}) {
                    KnownMoments known;
                    const FullestMoments& found = known.of(schedule, stage, stages, chunks, micro_batches);
                    const std::vector<WorkItem> order = work_order(schedule, stage, stages, chunks, micro_batches);
                    moments += found.moments.size();
                    items += order.size();
                    for (int i = 0; i < 20; ++i) {
                        std::vector<Weights> of_chunks;
                        for (int c = 0; c < chunks; ++c)
                            of_chunks.push_back({1.0 * weight(random), 1.0 * weight(random), 1.0 * weight(random), 1.0 * weight(random)});
                        EXPECT_EQ(most_of_moments(found, of_chunks), most_in_order(order, of_chunks));
                    }
                }
    EXPECT_LT(moments, items / 10) << "few of them can be the fullest";
}

}  // namespace
}  // namespace sextant
