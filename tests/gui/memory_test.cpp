// Memory over the step, as the simulation plays it.
#include "gui/models/simulated.hpp"
#include "gui/views/memory/memory_over_time.hpp"
#include "tests/gui/desk.hpp"

#include <gmock/gmock.h>

#include <QLabel>

#include <algorithm>

namespace sextant::gui {
namespace {

using testing::ElementsAre;

SimulationReport with_stages(int count, int fullest) {
    SimulationReport r;
    r.memory.resize(static_cast<std::size_t>(count));
    for (MemoryTimeline& m : r.memory) m.highest = 1 * units::GB;
    r.memory[static_cast<std::size_t>(fullest)].highest = 2 * units::GB;
    return r;
}

TEST(MemoryOverTime, ShowsEveryStageWhereTheyAreFew) { EXPECT_THAT(stages_to_draw(with_stages(3, 1)), ElementsAre(0, 1, 2)); }

TEST(MemoryOverTime, ShowsTheFullestOfMany) {
    // Eight of twenty: 0, 19/7, 2 x 19/7 ... rounded down.
    EXPECT_THAT(stages_to_draw(with_stages(20, 9)), ElementsAre(0, 2, 5, 8, 9, 10, 13, 16, 19));
    EXPECT_THAT(stages_to_draw(with_stages(20, 19)), ElementsAre(0, 2, 5, 8, 10, 13, 16, 19));
}

using MemoryFlows = Desk;

TEST_F(MemoryFlows, TheStepIsPlayedForIt) {
    open("gpt3-175b-1024xa100");
    show_view("memory");
    const auto simulated = workbench.session()->simulated;
    ASSERT_TRUE(simulated);
    ASSERT_EQ(simulated->memory.size(), 8U);
    for (std::size_t s = 0; s < 8; ++s)
        EXPECT_EQ(*std::ranges::max_element(simulated->memory[s]), simulated->report->memory[s].highest) << "stage " << s;
}

TEST_F(MemoryFlows, SaysWhyWhatWasPlayedIsNotWhatTheFormulaSays) {
    const auto said = [this] {
        show_view("memory");
        return find<QLabel>("memory.drawn").text().toStdString();
    };
    open("fsdp-on-ethernet");
    const std::string apart = said();
    EXPECT_THAT(apart, testing::HasSubstr(to_text(workbench.session()->simulated->report->report.estimate.peak_memory)));
    EXPECT_THAT(apart, testing::HasSubstr(to_text(workbench.answer()->report.estimate.peak_memory)));
    open("llama-2-70b-128xh100");
    EXPECT_EQ(said(), "");
}

TEST_F(MemoryFlows, WhatDoesNotFitIsDrawnToo) {
    window.show_view("memory");
    const auto drawn = [&](const char* scenario) {
        open(scenario);
        EXPECT_GT(memory_over_time(*workbench.session()->simulated, {0}, {})->height_for(600), 0);
        return window.view("memory").grab().toImage();
    };
    EXPECT_NE(drawn("does-not-fit"), drawn("default"));
}

}  // namespace
}  // namespace sextant::gui
