// What more devices bring, as people ask for it.
#include "gui/models/scaling_findings.hpp"
#include "gui/views/paint/plot.hpp"
#include "model/io/search/scaling_writer.hpp"
#include "tests/gui/desk.hpp"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QTest>

namespace sextant::gui {
namespace {

using testing::HasSubstr;

// Of two sizes, where each device that the second adds brings so much of what one of the first does.
std::string verdict(double added) {
    Scaling s;
    for (const int devices : {8, 16})
        s.points.push_back({.devices = devices, .best = PlanChoice{}, .refusal = {}, .report = {}, .added = {}});
    s.points.back().added = added;
    s.pays_up_to = added >= worth_adding ? 16 : 8;
    if (added < worth_adding) s.too_many = 16;
    return scaling_verdict(s);
}

// Of two lines that end near each other the name of the lower one stands below it, and the upper one is whole.
TEST(NamesOfLines, HideNoOtherLine) {
    const QColor red(255, 0, 0);
    Plot plot;
    plot.x = plot.y = even_axis(QStringLiteral("n"), 9);
    plot.lines = {{.points = {{0, 0}, {9, 8.4}}, .colour = red}, {.points = {{4, 3}, {9, 7.7}}, .name = QStringLiteral("a name")}};
    QImage image(400, 320, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    static_cast<void>(plot.paint(painter, image.rect(), light_look(), {}));
    painter.end();
    const auto is_red = [&](int x, int y) { return qRed(image.pixel(x, y)) > 200 && qBlue(image.pixel(x, y)) < 120; };
    std::vector<int> columns;
    for (int x = 0; x < image.width(); ++x)
        for (int y = 0; y < image.height(); ++y)
            if (is_red(x, y)) {
                columns.push_back(x);
                break;
            }
    ASSERT_GT(columns.size(), 250U);
    EXPECT_EQ(columns.back() - columns.front() + 1, static_cast<int>(columns.size()));
}

// Above all of a level line points stand: its name is in front of it, and as much of it is seen as without them.
TEST(NamesOfLines, AreNotBehindPoints) {
    const auto pixels_of_name = [](bool among_points) {
        std::vector<QImage> images;
        for (const char* name : {"", "a name"}) {
            Plot plot;
            plot.x = plot.y = even_axis(QStringLiteral("n"), 9);
            plot.lines = {{.points = {{6, 5}, {9, 5}}, .colour = QColor(255, 0, 0), .name = QString::fromLatin1(name)}};
            for (double x = 6; among_points && x <= 9; x += 0.25) plot.points.push_back({.x = x, .y = 5.3, .radius = 9});
            images.emplace_back(400, 320, QImage::Format_RGB32);
            images.back().fill(Qt::white);
            QPainter painter(&images.back());
            static_cast<void>(plot.paint(painter, images.back().rect(), light_look(), {}));
        }
        int pixels = 0;
        for (int x = 0; x < images[0].width(); ++x)
            for (int y = 0; y < images[0].height(); ++y) pixels += images[0].pixel(x, y) != images[1].pixel(x, y);
        return pixels;
    };
    EXPECT_GT(pixels_of_name(true), 0.8 * pixels_of_name(false));
}

TEST(ScalingVerdict, DoesNotContradictItself) {
    EXPECT_THAT(verdict(0.4971), HasSubstr("brings 49.7 % of what one brings at the smallest size, less than 50 %"));
    EXPECT_THAT(verdict(0.25), HasSubstr("brings 25 %"));
    EXPECT_THAT(verdict(-0.2), HasSubstr("with 16 the throughput is lower"));
    EXPECT_THAT(verdict(0.9), HasSubstr("pay up to 16, the most that were tried"));
}

class ScalingFlow : public Desk {
protected:
    void ask_for(const std::string& scenario, const QString& sizes) {
        open(scenario);
        window.show_view("scaling");
        find<QLineEdit>("scaling.sizes").setText(sizes);
        QTest::mouseClick(&find<QPushButton>("scaling.ask"), Qt::LeftButton);
    }
    void wait_for_it() {
        const auto is_through = [this] { return workbench.session()->scaling && find<QPushButton>("scaling.ask").isEnabled(); };
        wait_for([&] { return is_through() || (workbench.session()->scaling && workbench.session()->scaling->kinds.size() == 2); });
        wait_for(is_through);
    }
    QString said() { return find<QLabel>("scaling.said").text(); }
};

TEST_F(ScalingFlow, ShowsBothKindsAtEverySizeAndSaysUpToWhereItPays) {
    ask_for("llama-3-8b-fsdp-64xh100", QStringLiteral("8..1024"));
    wait_for_it();
    const ScalingFindings& found = *workbench.session()->scaling;
    ASSERT_EQ(found.kinds.size(), 2U);
    EXPECT_EQ(found.kinds[0].points.size(), 8U);
    EXPECT_EQ(found.kinds[0].points[1].global_batch, found.kinds[0].points[0].global_batch);
    EXPECT_EQ(found.kinds[1].points[1].global_batch, 2 * found.kinds[1].points[0].global_batch);
    TableModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.set_table(scaling_table(found));
    EXPECT_EQ(model.rowCount(), 16);
    EXPECT_EQ(scaling_point(found, 9).devices, 16) << "of weak scaling";
    EXPECT_THAT(find<QLabel>("scaling.verdict").text().toStdString(), HasSubstr("More than 512 devices do not pay"));
}

TEST_F(ScalingFlow, ProposesTheSizeOfThePlanAmongOthers) {
    open("llama-3-8b-adapters");
    window.show_view("scaling");
    EXPECT_EQ(find<QLineEdit>("scaling.sizes").text(), QStringLiteral("1,2,4,6"));
    open("llama-3-8b-fsdp-64xh100");
    EXPECT_EQ(find<QLineEdit>("scaling.sizes").text(), QStringLiteral("8..256"));
}

// 3,072 is no power of two: every size is spelled out.
TEST_F(ScalingFlow, TheSizesAreWholeInASmallWindow) {
    window.resize(1024, 700);
    open("megatron-1t-3072xa100");
    show_view("scaling");
    const auto& sizes = find<QLineEdit>("scaling.sizes");
    EXPECT_THAT(sizes.text().toStdString(), HasSubstr("2048,3072,4096"));
    EXPECT_GT(sizes.width(), sizes.fontMetrics().horizontalAdvance(sizes.text()) + 2 * gap);
    EXPECT_EQ(sizes.cursorPosition(), 0) << "and where they are longer still, their beginning is seen";
}

TEST_F(ScalingFlow, APlanOfAnotherSizeIsOpenedAsOneChange) {
    ask_for("llama-3-8b-fsdp-64xh100", QStringLiteral("32,64"));
    wait_for_it();
    const Seconds before = step();
    const ScalingPoint smaller = scaling_point(*workbench.session()->scaling, 0);
    workbench.replace_plan(smaller.best->plan, QStringLiteral("plan on 32 devices"));
    settle();
    EXPECT_EQ(workbench.answer()->report.devices, 32);
    EXPECT_EQ(step(), smaller.best->step);
    EXPECT_TRUE(workbench.session()->scaling);
    workbench.undo();
    EXPECT_EQ(step(), before);
}

TEST_F(ScalingFlow, RefusesWhatIsNoRangeInTheWordsOfTheCommandLine) {
    ask_for("default", QStringLiteral("few"));
    EXPECT_THAT(said().toStdString(), HasSubstr("no number from 1"));
    find<QLineEdit>("scaling.sizes").setText(QStringLiteral("2"));
    for (const char* kind : {"scaling.strong", "scaling.weak"}) find<QCheckBox>(kind).setChecked(false);
    QTest::mouseClick(&find<QPushButton>("scaling.ask"), Qt::LeftButton);
    EXPECT_FALSE(said().isEmpty());
    EXPECT_FALSE(workbench.session()->scaling);
}

TEST_F(ScalingFlow, MoreDevicesThanThereAreIsToldAndNothingElseHappens) {
    ask_for("default", QStringLiteral("4096"));
    wait_for([this] { return !said().isEmpty(); });
    EXPECT_FALSE(workbench.session()->scaling);
    EXPECT_TRUE(find<QPushButton>("scaling.ask").isEnabled());
}

// 405 billion parameters on thousands of devices: each size takes a while.
TEST_F(ScalingFlow, EachSizeIsShownAsSoonAsItIsPlanned) {
    ask_for("llama-3.1-405b-16384xh100", QStringLiteral("4096,16384"));
    wait_for([this] { return workbench.session()->scaling && !workbench.session()->scaling->kinds.front().points.empty(); });
    EXPECT_FALSE(find<QPushButton>("scaling.ask").isEnabled()) << "the next size is worked on";
    EXPECT_EQ(workbench.session()->scaling->kinds.front().points.size(), 1U);
    EXPECT_THAT(find<QLabel>("scaling.verdict").text().toStdString(), HasSubstr("so far"));
    find<QLineEdit>("scaling.sizes").setText(QStringLiteral("64"));
    QTest::mouseClick(&find<QPushButton>("scaling.stop"), Qt::LeftButton);
    wait_for([this] { return find<QPushButton>("scaling.ask").isEnabled(); });
    EXPECT_EQ(find<QLineEdit>("scaling.sizes").text(), QStringLiteral("64")) << "what is typed meanwhile stays";
}

TEST_F(ScalingFlow, IsStoppedAndKeepsTheSizesThatWereDone) {
    ask_for("llama-3.1-405b-16384xh100", QStringLiteral("1024..16384"));
    QTest::mouseClick(&find<QPushButton>("scaling.stop"), Qt::LeftButton);
    wait_for_it();
    EXPECT_FALSE(workbench.session()->scaling->kinds.front().complete);
    EXPECT_THAT(said().toStdString(), HasSubstr("Stopped before the end"));
}

}  // namespace
}  // namespace sextant::gui
