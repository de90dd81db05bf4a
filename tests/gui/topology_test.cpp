// The machine in a picture: which nodes stand for all, what is said of them, and what people do with it.
#include "gui/models/topology/cluster_map.hpp"
#include "gui/views/topology/cluster_layout.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/gui/desk.hpp"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLabel>
#include <QSpinBox>

namespace sextant::gui {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::shared_ptr<const ClusterMap> map_of(const std::string& name, const std::vector<std::string>& overrides = {}) {
    const Scenario scenario = bundled_scenario(name, overrides);
    return gui::map_of(scenario, std::make_shared<const SimulationReport>(simulate(scenario)));
}

std::vector<int> numbers_of(const ShownNodes& shown) {
    std::vector<int> numbers;
    for (const ShownNode& n : shown.nodes) numbers.push_back(n.node);
    return numbers;
}

// What loaders share is no link of the machine: it has neither bandwidth nor latency.
TEST(ClusterMap, TellsOfWhatLoadersShare) {
    const auto map = map_of("input-grnet-files");
    EXPECT_THAT(findings(*map, {}).join(QLatin1Char(' ')).toStdString(),
                HasSubstr("cores of the host</b> with at most 17\u00a0% of it in use"));
    const Table links = cluster_links_table(*map, {});
    ASSERT_FALSE(links.rows.empty());
    EXPECT_EQ(links.rows.front()[2].toString().toStdString(), "what loaders share");
    EXPECT_FALSE(links.rows.front()[3].isValid());
}

TEST(ClusterMap, SaysWhatItsBoxesAreFromTheTop) {
    EXPECT_EQ(levels_text(*map_of("default")).toStdString(), "From the top: sockets (S) with their memory (RAM or M), devices, by rank.");
    EXPECT_THAT(levels_text(*map_of("gpt3-175b-1024xa100")).toStdString(), HasSubstr("spine, leaf switches, NICs"));
}

// 128 nodes, 16 of them for each of 8 stages.
TEST(ClusterMap, ShowsOneNodeForAllThatAreUsedAlike) {
    const auto map = map_of("gpt3-175b-1024xa100");
    EXPECT_THAT(map->alike, SizeIs(8));
    EXPECT_THAT(map->alike.front(), SizeIs(16));
    const ShownNodes all = nodes_to_show(*map, 8, {});
    EXPECT_THAT(all.nodes, SizeIs(8));
    EXPECT_EQ(all.left_out, 0);
    const ShownNodes some = nodes_to_show(*map, 4, {});
    EXPECT_EQ(some.left_out, 4 * 16);
    EXPECT_EQ(some.nodes.front().node, 0);
    EXPECT_EQ(some.nodes.back(), (ShownNode{112, 16})) << "first and last stage are always there";
    // Rank 300 is on node 37, of the third stage.
    EXPECT_THAT(numbers_of(nodes_to_show(*map, 4, 300)), testing::Contains(37));
}

TEST(ClusterMap, ShowsEveryNodeWhereThereIsRoom) {
    const auto map = map_of("resnet50-lisa-2-nodes");
    EXPECT_THAT(nodes_to_show(*map, 4, {}).nodes, ElementsAre(ShownNode{0, 1}, ShownNode{1, 1}));
}

TEST(ClusterMap, PutsEveryRankOnOneDevice) {
    const auto map = map_of("gpt3-175b-1024xa100");
    std::set<int> ranks;
    for (const auto& rank : map->rank_of_device) EXPECT_TRUE(!rank || ranks.insert(*rank).second);
    EXPECT_THAT(ranks, SizeIs(1024));
    EXPECT_THAT(group_of(*map, 9, PlanDimension::tensor), ElementsAre(8, 9, 10, 11, 12, 13, 14, 15));
    EXPECT_THAT(group_of(*map, 0, PlanDimension::pipeline), ElementsAre(0, 128, 256, 384, 512, 640, 768, 896));
    EXPECT_EQ(place_in_words(*map, 137).toStdString(), "pipeline stage 1 of 8, data 1 of 16, tensor 1 of 8");
}

// Servers without ranks, on nodes of their own.
TEST(ClusterMap, TellsServersFromWorkers) {
    const auto map = map_of("parameter-server-sync");
    EXPECT_THAT(map->alike, ElementsAre(SizeIs(32), SizeIs(4)));
    EXPECT_FALSE(map->rank_of_device.back());
    EXPECT_THAT(findings(*map, {}).front().toStdString(), HasSubstr("is full for"));
}

TEST(ClusterMap, NamesTheRankThatOthersWaitFor) {
    EXPECT_THAT(findings(*map_of("gpt3-175b-1024xa100"), {}), SizeIs(1)) << "all are alike";
    const auto map = map_of("slowest-worker");
    const auto& straggler = map->scenario.straggler;
    ASSERT_TRUE(straggler);
    const QStringList found = findings(*map, {});
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_THAT(found.back().toStdString(), HasSubstr("<b>Rank 0</b> is the slow one"));
}

TEST(ClusterMap, GivesItsLinksAsATable) {
    const auto map = map_of("gpt3-175b-1024xa100");
    TableModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.set_table(cluster_links_table(*map, {}));
    EXPECT_GT(model.rowCount(), 8);
    for (int row = 0; row < model.rowCount(); ++row) {
        EXPECT_GT(model.index(row, 3).data().toDouble(), 1e9) << "bytes per second";
        EXPECT_LE(model.index(row, 5).data().toDouble(), model.index(row, 6).data().toDouble()) << "mean and highest";
    }
}

class TopologyFlows : public Desk {
protected:
    void show(const std::string& scenario) {
        open(scenario);
        show_view("topology");
    }
};

TEST_F(TopologyFlows, ARangeOfTheTimelineColoursTheLinks) {
    show("gpt3-175b-1024xa100");
    auto& cluster = find<ChartWidget>("cluster_chart");
    const QImage step = cluster.grab().toImage();
    const std::string whole = find<QLabel>("findings").text().toStdString();
    EXPECT_THAT(whole, HasSubstr("nic"));
    Selected beginning;
    beginning.range = TimeRange{{}, 0.1 * workbench.answer()->report.estimate.step};
    selection.set(beginning);
    EXPECT_NE(cluster.grab().toImage(), step);
    EXPECT_THAT(find<QLabel>("findings").text().toStdString(), HasSubstr("nvswitch")) << "gradients are exchanged later";
}

TEST_F(TopologyFlows, TheGroupOfARankIsMarked) {
    show("gpt3-175b-1024xa100");
    auto& cluster = find<ChartWidget>("cluster_chart");
    const QImage before = cluster.grab().toImage();
    auto& group = find<QComboBox>("group");
    group.setCurrentIndex(1);
    emit group.activated(1);
    EXPECT_EQ(selection.now().dimension, PlanDimension::tensor);
    EXPECT_NE(cluster.grab().toImage(), before);
    // Rank 300 is of the third stage: that is what the other views hear of it.
    find<QSpinBox>("rank").setValue(300);
    EXPECT_EQ(selection.now().stage, 2);
    EXPECT_EQ(selection.now().rank, GraphRank{2});
}

}  // namespace
}  // namespace sextant::gui
