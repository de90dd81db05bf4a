#include "gui/views/memory/memory_view.hpp"

#include "gui/models/meanings.hpp"
#include "gui/models/report_tables.hpp"
#include "gui/models/text.hpp"
#include "gui/views/memory/memory_over_time.hpp"
#include "gui/views/paint/card.hpp"
#include "gui/views/paint/stacked_bars.hpp"
#include "gui/views/simulation_state.hpp"

#include <cmath>
#include <set>

namespace sextant::gui {
namespace {

BarRow row_of(const StageMemory& memory, const QString& label) {
    BarRow row{.label = label, .note = quantity(memory.total()), .parts = {}, .key = 0};
    for (const MemoryKind kind : all_memory_kinds)
        if (memory[kind] > Bytes{})
            row.parts.push_back(
                {static_cast<int>(kind), words_of(kind), memory[kind].si(), quantity(memory[kind]), fill_of(kind), meaning(kind)});
    return row;
}

// What the device has is drawn where it is near enough for the bars to be seen beside it.
std::shared_ptr<StackedBars> bars_against(Bytes capacity, Bytes most) {
    auto bars = std::make_shared<StackedBars>();
    const bool is_near = is_within_reach(capacity, most);
    bars->unit = unit_for(is_near ? capacity : most);
    if (is_near) bars->limit = {capacity.si(), QStringLiteral("a device has %1").arg(quantity(capacity))};
    return bars;
}

std::shared_ptr<Chart> stages(const Estimate& e) {
    auto bars = bars_against(e.device_memory, e.peak_memory);
    const bool many = e.memory.size() > 8;
    bars->row_height = many ? 16 : 30;
    for (std::size_t stage = 0; stage < e.memory.size(); ++stage)
        bars->rows.push_back(row_of(e.memory[stage], e.memory.size() > 1 ? QStringLiteral("stage %1").arg(stage) : QString()));
    return bars;
}

// The fullest stage at this micro-batch, at the largest that fits and around them.
std::shared_ptr<Chart> micro_batches(const Report& r, std::int64_t now) {
    const Estimate& e = r.estimate;
    const StageMemory& fullest = e.memory[e.fullest_stage()];
    std::set<std::int64_t> sizes{1, now, 2 * now};
    if (r.batch.largest_micro_batch > 0 && !r.batch.any_micro_batch_fits()) sizes.insert(r.batch.largest_micro_batch);
    auto bars = bars_against(e.device_memory, r.batch.largest_micro_batch > 0 ? e.device_memory : e.peak_memory);
    bars->has_legend = false;
    bars->row_height = 24;
    for (const std::int64_t size : sizes) {
        QString label = QString::number(size);
        if (size == now) label += QStringLiteral(" (now)");
        if (size == r.batch.largest_micro_batch) label += QStringLiteral(" (largest)");
        const double times = static_cast<double>(size) / static_cast<double>(now);
        bars->rows.push_back(row_of(with_micro_batch_scaled(fullest, times, e.device_memory), label));
    }
    return bars;
}

// The most that was played, where it is not what the bars above it say.
QString where_peaks_part(Bytes played, Bytes formula) {
    constexpr double noticeable = 0.005;
    if (std::abs(played / formula - 1) < noticeable) return {};
    return QStringLiteral("At most %1, and not %2: the bars above add up the most of each kind, which is not all there at the same time.")
        .arg(quantity(played), quantity(formula));
}

// Bars on a scale of their own would look full on a device that is empty.
QString scale_note(Bytes capacity, Bytes most) {
    if (is_within_reach(capacity, most)) return {};
    return QStringLiteral("Drawn larger than the device is: up to %1, which is %2 of the %3 that it has.")
        .arg(quantity(most), percent(most / capacity), quantity(capacity));
}

class MemoryView : public PageView {
public:
    MemoryView(Workbench& workbench, Selection& selection) : PageView(workbench, selection) {
        auto* by_stage = new Card(tr("Memory of each stage"), tr("The most that one of its ranks holds at any time, by what it is for."));
        verdict_ = text_label(Type::title);
        stages_ = new ChartWidget(tr("Memory of each stage"));
        scale_ = with_name("memory.scale", text_label(Type::small, "faint"));
        by_stage->add({verdict_, scale_, stages_});
        column().addWidget(by_stage);

        auto* over_time =
            new Card(tr("Memory over the step"),
                     tr("As the step is played event by event: what is held all the time, and above it activations and whatever "
                        "else comes and goes. The line is what the device has."));
        state_ = new SimulationState(workbench);
        drawn_ = with_name("memory.drawn", text_label(Type::small, "faint"));
        curves_ = new ChartWidget(tr("Memory over the step"));
        over_time->add({state_, drawn_, curves_});
        column().addWidget(over_time);
        connect(state_, &SimulationState::told, curves_, &QWidget::setDisabled);

        auto* by_size =
            new Card(tr("How large may the micro-batch be?"), tr("The fullest stage at other micro-batches: activations grow with "
                                                                 "them, weights and what belongs to them do not."));
        largest_ = text_label(Type::body);
        sizes_ = new ChartWidget(tr("Memory at other micro-batches"));
        by_size->add({largest_, sizes_});
        column().addWidget(by_size);
        connect(&selection, &Selection::changed, this, [this] {
            if (played_) show_curves();
        });
        connect(stages_, &ChartWidget::chosen, this, [this](int kind) {
            chosen_ = chosen_ == kind ? std::nullopt : std::optional(kind);
            stages_->emphasize(chosen_);
            sizes_->emphasize(chosen_);
        });
    }

    [[nodiscard]] bool is_complete() const override { return is_played(); }
    [[nodiscard]] std::vector<NamedTable> tables() const override { return {{QStringLiteral("memory"), &table_}}; }

private:
    void follow(const Session& session) override {
        state_->show_state(session);
        if (!session.simulated) return workbench().want_simulation();
        if (session.simulated == played_ || !session.simulated->report) return;
        played_ = session.simulated;
        show_curves();
    }

    void show_curves() {
        const std::size_t count = played_->report->memory.size();
        const std::vector<std::size_t> stages = stages_to_draw(*played_->report);
        const std::optional<TimeRange> range = selection().now().range;
        QStringList notes;
        if (stages.size() < count) notes += tr("%1 of %2 stages, the fullest among them.").arg(stages.size()).arg(count);
        const Bytes capacity = played_->report->report.estimate.device_memory;
        if (const QString note = scale_note(capacity, played_->report->report.estimate.peak_memory); !note.isEmpty()) notes += note;
        if (const auto answer = workbench().answer()) {
            const Bytes played = played_->report->report.estimate.peak_memory, formula = answer->report.estimate.peak_memory;
            if (const QString apart = where_peaks_part(played, formula); !apart.isEmpty()) notes += apart;
        }
        if (range) notes += tr("The most from %1, as selected in the timeline.").arg(words_of(*range));
        drawn_->setText(notes.join(QLatin1Char(' ')));
        drawn_->setVisible(!notes.isEmpty());
        curves_->show_chart(memory_over_time(*played_, stages, range));
    }

    void show_answer(const Session&, const Answer& answer) override {
        const Report& r = answer.report;
        const Estimate& e = r.estimate;
        QStringList rooms;  // what is too small, or all
        if (e.host.fits() || !e.fits_device()) rooms += tr("%1 of %2").arg(quantity(e.peak_memory), quantity(e.device_memory));
        if (e.host.total() > Bytes{}) rooms += tr("host memory %1 of %2").arg(quantity(e.host.total()), quantity(e.host.there));
        verdict_->setText((e.fits() ? tr("Fits: %1") : tr("Does not fit: %1")).arg(rooms.join(QStringLiteral("; "))));
        set_role(*verdict_, e.fits() ? "good" : "bad");
        scale_->setText(scale_note(e.device_memory, e.peak_memory));
        scale_->setVisible(!scale_->text().isEmpty());
        stages_->show_chart(stages(e));
        sizes_->show_chart(micro_batches(r, answer.scenario.plan.micro_batch));
        largest_->setText(r.batch.any_micro_batch_fits()    ? tr("<b>Any</b> that a plan may ask for fits.")
                          : r.batch.largest_micro_batch > 0 ? tr("The largest that fits is <b>%1</b>.").arg(r.batch.largest_micro_batch)
                                                            : tr("<b>None fits</b>: what does not depend on it is already too much."));
        table_.set_table(memory_table(e));
        if (played_) show_curves();  // in other colours
    }

    QLabel *verdict_, *scale_, *largest_, *drawn_;
    SimulationState* state_;
    ChartWidget *stages_, *curves_, *sizes_;
    std::shared_ptr<const Simulated> played_;
    std::optional<int> chosen_;
    TableModel table_;
};

}  // namespace

ViewInfo memory_view() {
    return {
        .name = "memory",
        .title = QStringLiteral("Memory"),
        .tip = QStringLiteral("What fills the memory of each stage, when, and how large the micro-batch may be"),
        .icon =
            "<rect x='3' y='7' width='18' height='10' rx='1.5'/><path d='M7 10.5v3M12 10.5v3M17 10.5v3M6 17v3M10 17v3M14 17v3M18 17v3'/>",
        .make = [](Workbench& w, Selection& s) { return std::make_unique<MemoryView>(w, s); }};
}

}  // namespace sextant::gui
