#include "gui/models/history.hpp"

#include <gtest/gtest.h>

namespace sextant::gui {
namespace {

SessionPtr numbered(int n) {
    return std::make_shared<const Session>(Session{.document = {.file = std::to_string(n), .text = {}, .edits = {}}});
}
std::string now(const History& h) { return h.now()->document.file; }

History with_three_steps() {
    History h;
    h.begin(numbered(0));
    for (const int n : {1, 2, 3}) h.push(numbered(n), QStringLiteral("step %1").arg(n));
    return h;
}

TEST(History, UndoAndRedoWalkOverTheSteps) {
    History h = with_three_steps();
    EXPECT_EQ(*h.undoes(), QStringLiteral("step 3"));
    EXPECT_FALSE(h.redoes());
    h.undo();
    h.undo();
    EXPECT_EQ(now(h), "1");
    EXPECT_EQ(*h.redoes(), QStringLiteral("step 2"));
    h.redo();
    EXPECT_EQ(now(h), "2");
}

TEST(History, EndsAtBothEnds) {
    History h = with_three_steps();
    for (int i = 0; i < 9; ++i) h.undo();
    EXPECT_EQ(now(h), "0");
    EXPECT_FALSE(h.undoes());
    for (int i = 0; i < 9; ++i) h.redo();
    EXPECT_EQ(now(h), "3");
}

TEST(History, ANewStepForgetsWhatWasUndone) {
    History h = with_three_steps();
    h.undo();
    h.undo();
    h.push(numbered(9), QStringLiteral("another"));
    EXPECT_FALSE(h.redoes());
    h.undo();
    EXPECT_EQ(now(h), "1");
}

TEST(History, StepsOfOneGestureAreOne) {
    History h;
    h.begin(numbered(0));
    for (const int n : {1, 2, 3}) h.push(numbered(n), QStringLiteral("drag"), 7);
    EXPECT_EQ(now(h), "3");
    h.undo();
    EXPECT_EQ(now(h), "0");
    h.redo();
    h.push(numbered(4), QStringLiteral("drag"), 8);
    h.undo();
    EXPECT_EQ(now(h), "3") << "another gesture is another step";
}

TEST(History, KnowsWhatIsSaved) {
    History h = with_three_steps();
    EXPECT_FALSE(h.is_saved());
    h.mark_saved();
    h.undo();
    EXPECT_FALSE(h.is_saved());
    h.redo();
    EXPECT_TRUE(h.is_saved());
    h.undo();
    h.push(numbered(9), QStringLiteral("another"));
    h.push(numbered(10), QStringLiteral("and another"));
    EXPECT_FALSE(h.is_saved()) << "what was saved is forgotten, although as many steps have been made";
}

TEST(History, WhatIsFoundOutReplacesTheStepItself) {
    History h = with_three_steps();
    h.replace(numbered(30));
    h.undo();
    h.redo();
    EXPECT_EQ(now(h), "30");
}

}  // namespace
}  // namespace sextant::gui
