#include "gui/views/topology/topology_view.hpp"

#include "gui/models/simulated.hpp"
#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"
#include "gui/views/simulation_state.hpp"
#include "gui/views/topology/cluster_chart.hpp"

#include <QComboBox>
#include <QSpinBox>

#include <algorithm>

namespace sextant::gui {
namespace {

struct GroupChoice {
    const char* name;
    std::optional<PlanDimension> dimension;
};
constexpr GroupChoice group_choices[] = {{"no group", {}},
                                         {"tensor", PlanDimension::tensor},
                                         {"context", PlanDimension::context},
                                         {"expert", PlanDimension::expert},
                                         {"data", PlanDimension::data},
                                         {"pipeline", PlanDimension::pipeline}};

class TopologyView : public PageView {
public:
    TopologyView(Workbench& workbench, Selection& selection) : PageView(workbench, selection), state_(new SimulationState(workbench)) {
        column().addWidget(state_);
        auto* card = new Card(tr("Where the bytes go"), tr("Color: how much of a link's bandwidth is in use. Thickness: its bandwidth."));
        findings_ = with_name("findings", text_label(Type::body));
        range_ = text_label(Type::small, "faint");
        chart_ = with_name("cluster_chart", new ChartWidget(tr("The machine and its links")));
        card->add({findings_, range_});
        card->body().addLayout(controls());
        card->body().addWidget(chart_);
        column().addWidget(card);
        connect(chart_, &ChartWidget::chosen, rank_, &QSpinBox::setValue);
        connect(state_, &SimulationState::told, chart_, &QWidget::setDisabled);
        connect(&selection, &Selection::changed, this, [this] { take_selection(); });
    }

    [[nodiscard]] bool is_complete() const override { return is_played(); }
    [[nodiscard]] std::vector<NamedTable> tables() const override { return {{QStringLiteral("links"), &table_}}; }

private:
    QLayout* controls() {
        auto* row = new QHBoxLayout;
        auto* text = text_label(Type::body, nullptr, tr("Mark the"));
        dimension_ = with_name("group", new QComboBox);
        dimension_->setAccessibleName(tr("Group to mark"));
        for (const GroupChoice& choice : group_choices) dimension_->addItem(QLatin1String(choice.name));
        auto* of = text_label(Type::body, nullptr, tr("of rank"));
        rank_ = with_name("rank", new QSpinBox);
        rank_->setAccessibleName(tr("Rank"));
        for (QWidget* w : std::initializer_list<QWidget*>{text, dimension_, of, rank_}) row->addWidget(w);
        row->addStretch(1);
        connect(dimension_, &QComboBox::activated, this, [this](int i) {
            Selected next = this->selection().now();
            next.dimension = group_choices[i].dimension;
            this->selection().set(next);
        });
        connect(rank_, &QSpinBox::valueChanged, this, [this] { point_at_rank(); });
        return row;
    }

    // Others know a rank by who stands for it in the simulation.
    void point_at_rank() {
        if (!map_) return;
        const auto& ranks = map_->report().trace.ranks;
        const int stage = map_->layout.place_of(rank_->value()).pipeline;
        const auto stands_for_it = std::ranges::find_if(
            ranks, [&](const TraceRank& r) { return !r.server && (r.multiplicity > 1 ? r.stage == stage : r.rank == rank_->value()); });
        Selected next = selection().now();
        next.rank = static_cast<GraphRank>(stands_for_it - ranks.begin());
        next.stage = stage;
        const bool is_new = next != selection().now();
        selection().set(next);
        if (!is_new) refresh();
    }

    void take_selection() {
        const Selected& now = selection().now();
        if (map_ && now.rank && *now.rank < map_->report().trace.ranks.size()) {
            const TraceRank& rank = map_->report().trace.ranks[*now.rank];
            const bool is_another =
                rank.multiplicity > 1 ? map_->layout.place_of(rank_->value()).pipeline != rank.stage : rank.rank != rank_->value();
            const QSignalBlocker quiet(rank_);
            if (!rank.server && is_another) rank_->setValue(rank.rank);
        }
        refresh();
    }

    void follow(const Session& session) override {
        state_->show_state(session);
        if (!session.simulated) return workbench().want_simulation();
        if (!session.simulated->map || session.simulated->map == map_) return;
        map_ = {session.simulated, session.simulated->map.get()};  // the whole of it: see freed_in_background
        const QSignalBlocker quiet(rank_);
        rank_->setRange(0, map_->layout.ranks() - 1);
        take_selection();
    }

    void show_answer(const Session&, const Answer&) override { refresh(); }  // in other colors

    void refresh() {
        if (!map_) return;
        const Selected& now = selection().now();
        auto chart = std::make_shared<ClusterChart>();
        chart->map = map_;
        chart->range = now.range;
        chart->rank = rank_->value();
        const auto* const choice = std::ranges::find(group_choices, now.dimension, &GroupChoice::dimension);
        dimension_->setCurrentIndex(static_cast<int>(choice - std::begin(group_choices)));
        if (now.dimension)
            for (const int r : group_of(*map_, rank_->value(), *now.dimension)) chart->group.insert(r);
        findings_->setText(findings(*map_, chart->range).join(QLatin1Char(' ')));
        range_->setVisible(!map_->report().links.empty());
        range_->setText(now.range
                            ? tr("From %1, as selected in the timeline.").arg(words_of(*now.range))
                            : tr("Links on average over the %1 in which each is busiest, ranks over the whole step; select a range in the "
                                 "timeline for what is in use there.")
                                  .arg(name_of_interval(*map_)));
        table_.set_table(cluster_links_table(*map_, chart->range));
        chart_->show_chart(std::move(chart));
        chart_->emphasize(rank_->value());
    }

    SimulationState* state_;
    QLabel *findings_, *range_;
    QComboBox* dimension_;
    QSpinBox* rank_;
    ChartWidget* chart_;
    std::shared_ptr<const ClusterMap> map_;
    TableModel table_;
};

}  // namespace

ViewInfo topology_view() {
    return {.name = "topology",
            .title = QStringLiteral("Topology"),
            .tip = QStringLiteral("The machine that the job uses, how busy its links are, and which rank sits where"),
            .icon =
                "<circle cx='12' cy='5' r='2.5'/><circle cx='5' cy='18' r='2.5'/><circle cx='12' cy='18' r='2.5'/>"
                "<circle cx='19' cy='18' r='2.5'/><path d='M11 7.3L6 15.7M12 7.5v8M13 7.3l5 8.4'/>",
            .make = [](Workbench& w, Selection& s) { return std::make_unique<TopologyView>(w, s); }};
}

}  // namespace sextant::gui
