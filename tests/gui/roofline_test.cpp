// Kernels as points under their roofs.
#include "gui/views/paint/axis.hpp"
#include "gui/views/roofline/roofline_plot.hpp"
#include "tests/gui/desk.hpp"

#include <gmock/gmock.h>

#include <QLabel>
#include <QPainter>

#include <ctime>

namespace sextant::gui {
namespace {

using testing::HasSubstr;

class RooflineFlow : public Desk {};

TEST_F(RooflineFlow, EveryKernelIsAPointThatNamesItsOperator) {
    open("gpt3-175b-1024xa100");
    const Roofline all = roofline(workbench.answer()->job);
    QImage image(900, 430, QImage::Format_RGB32);
    QPainter painter(&image);
    const std::vector<Hit> hits = roofline_plot(all, light_look())->paint(painter, QRectF(image.rect()), light_look(), {});
    ASSERT_EQ(hits.size(), all.kernels.size());
    for (const Hit& h : hits) {
        EXPECT_THAT(h.tip.toStdString(), HasSubstr(all.kernels[static_cast<std::size_t>(h.key)].kernel.name));
        EXPECT_TRUE(QRectF(image.rect()).contains(h.area.center())) << h.tip.toStdString();
    }
}

TEST_F(RooflineFlow, SaysWhichPartMemoryBoundsAndTakesNoTime) {
    open("resnet50-lisa-16-nodes");
    const std::clock_t begin = std::clock();  // of this process: others may use the machine
    window.show_view("roofline");
    EXPECT_LE(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 0.25) << "it takes a fifth of that";
    EXPECT_THAT(find<QLabel>("roofline.verdict").text().toStdString(), HasSubstr("is bound by memory bandwidth"));
}

// Of so small a network all time is the start of kernels.
TEST_F(RooflineFlow, BeginsEachSentenceWithACapital) {
    window.files().open(write_file("tiny.json", R"({"schema": "scenario/1", "name": "tiny", "workload": {"mlp": {"widths": [16, 8, 4]}},
        "hardware": {"cluster": "two-core-reference"}, "plan": {"dp": 1, "micro_batch": 1, "global_batch": 1}, "framework": "sextant"})"));
    wait_for([this] { return workbench.answer() != nullptr; });
    window.show_view("roofline");
    EXPECT_THAT(find<QLabel>("roofline.verdict").text().toStdString(), HasSubstr(". <b>Next to nothing</b> of their time"));
}

// Five steps of 2,000 reach 10,000.
TEST(Ticks, HaveTheirDigitsGrouped) {
    const std::vector<Tick> list = ticks(10'000, {QString(), 1}, 5);
    ASSERT_EQ(list.size(), 6U);
    EXPECT_EQ(list.front().label, QStringLiteral("0"));
    EXPECT_EQ(list.back().label, QStringLiteral("10,000"));
    EXPECT_EQ(ticks(1, {QString(), 1}, 5).back().label, QStringLiteral("1.0"));
}

}  // namespace
}  // namespace sextant::gui
