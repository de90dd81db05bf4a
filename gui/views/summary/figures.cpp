#include "gui/views/summary/figures.hpp"

#include "gui/models/meanings.hpp"
#include "gui/models/text.hpp"
#include "gui/views/paint/interval_bar.hpp"
#include "gui/views/paint/side_by_side.hpp"
#include "gui/views/paint/stacked_bars.hpp"
#include "model/report/headings.hpp"

#include <QVBoxLayout>

namespace sextant::gui {
namespace {

// "30.0 s" -> "30.0" and "s".
std::pair<QString, QString> value_and_unit(const QString& text) {
    const qsizetype space = text.indexOf(QLatin1Char(' '));
    return space < 0 ? std::pair(text, QString()) : std::pair(text.left(space), text.mid(space + 1));
}

std::shared_ptr<Chart> memory_bar(const Estimate& e) {
    auto bar = std::make_shared<StackedBars>();
    bar->has_legend = bar->has_axis = false;
    bar->row_height = 12;
    const StageMemory& fullest = e.memory[e.fullest_stage()];
    BarRow row;
    for (const MemoryKind kind : all_memory_kinds) {
        row.parts.push_back(
            {static_cast<int>(kind), words_of(kind), fullest[kind].si(), quantity(fullest[kind]), fill_of(kind), meaning(kind)});
    }
    bar->rows = {row};
    bar->limit = {e.device_memory.si(), QString()};
    return bar;
}

// What was measured of the run that this began as, and how far off what is predicted of it is.
template <class Q>
QString published_line(const Session& session, Q measured, Q predicted) {
    const bool is_as_it_ran = session.document.edits.empty() && is_neutral(session.what_if);
    if (!is_as_it_ran) return QObject::tr("<br>measured, before the changes: %1").arg(quantity(measured));
    return QObject::tr("<br><b>measured: %1</b>, predicted %2").arg(quantity(measured), signed_percent(predicted / measured - 1));
}

}  // namespace

FigureCard::FigureCard(const QString& heading, const QString& tip) : Card(heading, tip) {
    figure_ = text_label(Type::figure);
    lines_ = text_label(Type::body, "faint");
    chart_ = new ChartWidget(heading);
    body().setSpacing(2);
    add({figure_, chart_, lines_});
    body().addStretch(1);
    chart_->hide();
}

void FigureCard::set_figure(const QString& value, const QString& unit) {
    figure_->setText(QStringLiteral("%1<span style='font-size:16px; font-weight:400'> %2</span>").arg(value, unit));
}
void FigureCard::set_lines(const QString& lines) { lines_->setText(lines); }

Figures::Figures() {
    step_ = new FigureCard(tr("Step time"), tr("The time from one update of the weights to the next, with the interval in which it lies in "
                                               "four of five cases."));
    throughput_ = new FigureCard(tr("Throughput"), tr("What all devices together train on in a second."));
    memory_ = new FigureCard(tr("Memory"), tr("The most that any device needs, and what it has. The red line is its capacity."));
    efficiency_ = new FigureCard(tr("Efficiency"), tr("MFU: the arithmetic that the mathematics needs, over what the devices could do in "
                                                      "the time of the step. HFU also counts what is computed twice."));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(new SideBySide({step_, throughput_, memory_, efficiency_}, 820));
    step_->figure().setObjectName(QStringLiteral("step_time"));
    step_->chart().show();
    memory_->chart().show();
}

void Figures::show_answer(const Session& session, const Answer& answer) {
    const Report& r = answer.report;
    const Estimate& e = r.estimate;
    const auto [step, unit] = value_and_unit(quantity(e.step));
    step_->set_figure(step, unit);
    auto interval = std::make_shared<IntervalBar>();
    interval->low = r.low, interval->value = e.step, interval->high = r.high;
    QString lines = tr("%1 to %2 in four of five cases").arg(quantity(r.low), quantity(r.high));
    if (!is_neutral(session.what_if)) {
        interval->before = answer.step_without_what_if;
        lines += tr("<br>%1 without the what-if").arg(quantity(answer.step_without_what_if));
    }
    if (!e.fits()) lines += tr("<br>as if it fitted");
    if (session.published && session.published->step) lines += published_line(session, *session.published->step, e.step);
    step_->chart().show_chart(interval);
    step_->set_lines(lines);

    throughput_->set_figure(grouped_quantity(r.samples_per_s.si()), tr("%1s/s").arg(q(r.sample_word)));
    QString rates;
    if (r.tokens_per_s) rates = tr("%1 tokens/s<br>").arg(grouped_quantity(r.tokens_per_s->si()));
    const QString of_each = tr("%1 on each of %2 devices").arg(grouped_quantity(r.samples_per_s.si() / r.devices), grouped(r.devices));
    throughput_->set_lines(rates + (r.devices == 1 ? tr("on one device") : of_each));

    const auto [memory, bytes] = value_and_unit(quantity(e.peak_memory));
    memory_->set_figure(memory, bytes);
    memory_->chart().show_chart(memory_bar(e));
    const QString room = e.fits_device() && !e.host.fits()
                             ? tr("<b>DOES NOT FIT</b>: %1 offloaded, a host has %2").arg(quantity(e.host.total()), quantity(e.host.there))
                             : (e.fits() ? tr("<b>fits</b> in %1") : tr("<b>DOES NOT FIT</b> in %1")).arg(quantity(e.device_memory)) +
                                   (little_to_spare(e.peak_memory, e.device_memory) ? tr(", little to spare") : QString());
    QString measured;
    if (session.published && session.published->memory) measured = published_line(session, *session.published->memory, e.peak_memory);
    memory_->set_lines(room +
                       (r.batch.any_micro_batch_fits()    ? tr("<br>any micro-batch fits")
                        : r.batch.largest_micro_batch > 0 ? tr("<br>largest micro-batch: %1").arg(r.batch.largest_micro_batch)
                                                          : tr("<br>no micro-batch fits")) +
                       measured);
    set_role(memory_->figure(), e.fits() ? "" : "bad");

    efficiency_->set_figure(number(100 * r.mfu), tr("% MFU"));
    efficiency_->set_lines(tr("HFU %1<br>peak %2<br>devices busy %3<br>scaling %4")
                               .arg(percent(r.hfu, 3), quantity(r.peak), percent(r.utilization), percent(r.scaling_efficiency)));
}

}  // namespace sextant::gui
