// What a report recommends, in the words of the editor, and made by a button.
#include "gui/models/suggestions.hpp"
#include "gui/models/text.hpp"
#include "gui/views/paint/chart.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/gui/desk.hpp"

#include <gmock/gmock.h>

#include <QCheckBox>
#include <QLabel>
#include <QPushButton>
#include <QTest>

#include <functional>

namespace sextant::gui {
namespace {

using testing::HasSubstr;
using testing::Not;

// Of a plan whose shards, if it had some, were over eight ranks.
Suggestion first_of(const std::function<void(Scenario&)>& change, double gain = 0.1, bool per_sample = false) {
    Report r = predict(bundled_scenario("gpt3-175b-1024xa100"));
    r.job.plan.shard_group = 8;
    r.bottleneck.settings = {{r.job, 2 * units::s, {}, gain, per_sample}};
    change(r.bottleneck.settings.front().job);
    return suggestions(r, 3).front();
}

TEST(Suggestions, AreInTheWordsOfTheEditor) {
    const Suggestion graph = first_of([](Scenario& s) { s.plan.cuda_graph = true; }, 0.33);
    EXPECT_EQ(graph.change, QStringLiteral("CUDA graph on"));
    EXPECT_EQ(graph.gain, QStringLiteral("\u221233\u00a0%"));
    EXPECT_EQ(graph.step, QStringLiteral("2.00 s"));
    EXPECT_EQ(graph.edits, (Edits{{"plan.cuda_graph", "true"}}));
    const Suggestion batch = first_of([](Scenario& s) { s.plan.micro_batch = 2; }, 0.033, true);
    EXPECT_EQ(batch.change, QStringLiteral("Micro-batch 2")) << "the global batch stays, and the number of micro-batches follows";
    EXPECT_EQ(batch.gain, QStringLiteral("\u22123.3\u00a0% a sample"));
    EXPECT_THAT(batch.edits, testing::IsSupersetOf(Edits{{"plan.grad_accum", "null"}, {"plan.global_batch", "1536"}}));
    EXPECT_EQ(first_of([](Scenario& s) { s.plan.shard_group.reset(); }).change, QStringLiteral("Shards over all ranks"));
    EXPECT_EQ(first_of([](Scenario& s) { s.plan.precision.reduction = DataType::fp16; }).change,
              QStringLiteral("Gradients added up in fp16"));
    EXPECT_EQ(first_of([](Scenario& s) { s.framework.name = "deepspeed"; }).change, QStringLiteral("Framework deepspeed"));
    const auto on_smaller_nodes = [](Scenario& s) {
        s.cluster.name = "elsewhere";
        s.cluster.node.devices = 4;
    };
    EXPECT_EQ(first_of(on_smaller_nodes).change, QStringLiteral("Cluster elsewhere, Nodes 256"));
}

// What is advised can be seen and taken back where it is made.
TEST(Suggestions, HaveAFieldInTheEditorForEachSetting) {
    for (const char* name : {"small-batch-launch-bound", "does-not-fit", "parameter-server-8xk80", "gpt3-175b-1024xa100", "default",
                             "slowest-worker", "resnet50-snellius-4xa100"}) {
        const auto all = suggestions(predict(bundled_scenario(name)), 100);
        EXPECT_FALSE(all.empty()) << name;
        for (const Suggestion& s : all)
            EXPECT_THAT(s.change.toStdString(),
                        Not(testing::AnyOf(HasSubstr("plan."), HasSubstr("="), HasSubstr("null"), testing::IsEmpty())));
    }
}

class Advice : public Desk {};

TEST_F(Advice, IsTakenByAButtonAsOneStep) {
    open("small-batch-launch-bound");
    const Seconds before = step();
    const PricedSetting first = workbench.answer()->report.bottleneck.settings.front();
    const QString change = find<QLabel>("suggestion.0").text();
    EXPECT_FALSE(find<QCheckBox>("plan.cuda_graph").isChecked());
    QTest::mouseClick(&find<QPushButton>("apply.0"), Qt::LeftButton);
    settle();
    EXPECT_EQ(step(), first.step);
    EXPECT_EQ(change, QStringLiteral("CUDA graph on"));
    EXPECT_TRUE(find<QCheckBox>("plan.cuda_graph").isChecked());
    EXPECT_EQ(workbench.history().undoes(), change);
    workbench.undo();
    EXPECT_EQ(step(), before);
}

TEST_F(Advice, NamesTheWindowsOwnViewsAndNoCommand) {
    open("does-not-fit");
    EXPECT_THAT(find<QLabel>("summary.help").text().toStdString(), Not(HasSubstr("sextant plan")));
    EXPECT_THAT(find<QLabel>("summary.help").text().toStdString(), HasSubstr("of memory in each"));
    for (const ChartWidget* chart : window.view("summary").findChildren<ChartWidget*>())
        if (chart->accessibleName() == QStringLiteral("What would move it")) {
            EXPECT_TRUE(chart->isHidden()) << "nothing that is faster makes it fit";
        }
    QTest::mouseClick(&find<QPushButton>("summary.search"), Qt::LeftButton);
    EXPECT_TRUE(window.view("planner").isVisible());
}

}  // namespace
}  // namespace sextant::gui
