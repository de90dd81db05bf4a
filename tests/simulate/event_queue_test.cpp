#include "model/simulate/event_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace sextant {
namespace {

using namespace units;

TEST(EventQueue, EventsComeOutByTimeAndThenInTheOrderInWhichTheyWerePushed) {
    EventQueue<char> queue;
    queue.push(2 * s, 'c');
    queue.push(1 * s, 'a');
    queue.push(2 * s, 'd');
    queue.push(1 * s, 'b');
    queue.push(2 * s, 'e');
    std::string out;
    while (!queue.empty()) out += queue.pop().payload;
    EXPECT_EQ(out, "abcde");
    EXPECT_EQ(queue.pushed(), 5u);
}

TEST(EventQueue, AnEventMayBePushedAtTheInstantThatIsBeingPlayed) {
    EventQueue<int> queue;
    queue.push(1 * s, 0);
    queue.push(1 * s, 1);
    EXPECT_EQ(queue.pop().payload, 0);
    queue.push(1 * s, 2);
    EXPECT_EQ(queue.pop().payload, 1);
    EXPECT_EQ(queue.top().payload, 2);
    EXPECT_EQ(queue.size(), 1u);
}

// A stable sort of all events is the plain way to the same order. Few distinct instants, so that most events have company.
TEST(EventQueue, AnyMixOfPushesAndPopsComesOutAsAStableSortWouldHaveIt) {
    std::mt19937 random(7);
    EventQueue<int> queue;
    std::vector<std::pair<double, int>> waiting;
    int next = 0;
    for (int round = 0; round < 20'000; ++round) {
        if (waiting.empty() || random() % 100 < 55) {
            const double at = static_cast<double>(random() % 50);
            queue.push(at * s, next);
            waiting.emplace_back(at, next++);
        } else {
            const auto first = std::ranges::min_element(waiting);  // numbers rise, so a pair's second settles ties
            const auto event = queue.pop();
            ASSERT_EQ(event.at / s, first->first);
            ASSERT_EQ(event.payload, first->second);
            waiting.erase(first);
        }
    }
    ASSERT_EQ(queue.size(), waiting.size());
}

}  // namespace
}  // namespace sextant
