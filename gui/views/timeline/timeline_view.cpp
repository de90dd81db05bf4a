#include "gui/views/timeline/timeline_view.hpp"

#include "gui/jobs/background.hpp"
#include "gui/models/compared.hpp"
#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"
#include "gui/views/paint/legend.hpp"
#include "gui/views/paint/side_by_side.hpp"
#include "gui/views/simulation_state.hpp"
#include "gui/views/timeline/canvas.hpp"
#include "gui/views/timeline/search_bar.hpp"
#include "model/io/trace/span_style.hpp"

#include <QCheckBox>
#include <QPushButton>
#include <QScrollBar>
#include <QShortcut>

#include <algorithm>
#include <tuple>

namespace sextant::gui {
namespace {

constexpr std::size_t many_ranks = 24;  // from there on their other streams are not shown unless asked for

// "The critical path is 71 % backward, 20 % forward."
QString path_sentence(const Simulated& simulated) {
    const Timeline& t = simulated.timeline;
    const Seconds end = t.trace->end;
    const int steps = simulated.report->steps;
    const QString of_what = steps == 1 ? QStringLiteral("the step") : QStringLiteral("the %1 steps that are played").arg(steps);
    QString sentence = QStringLiteral("The critical path of %1 is %2").arg(of_what, shares_text(t.path.by_kind, end));
    const double waiting = t.path.waiting / end;
    if (waiting >= 0.01) sentence += QStringLiteral("; for %1 of the time nothing of it runs").arg(percent(waiting));
    return sentence + QLatin1Char('.');
}

// Where the time of a range goes: of all ranks, of those that really ran, and of the path that nothing could be shorter than.
QString range_text(const TimelineContent& content, const TimeRange& range) {
    const auto& [from, to] = range;
    const Seconds length = to - from;
    const Timeline& t = content.simulated->timeline;
    QString text = QStringLiteral("<b>%1 selected</b>, from %2, %3 of the step<br>All ranks on average: %4<br>")
                       .arg(quantity(length, 4), words_of(range), percent(length / content.step_of(Origin::predicted)),
                            shares_text(kinds_within(*t.trace, from, to), length));
    if (content.measured)
        text += QStringLiteral("Measured: %1<br>").arg(shares_text(kinds_within(*content.measured->timeline.trace, from, to), length));
    return text + QStringLiteral("The critical path: %1").arg(shares_text(path_within(t, from, to), length));
}

// How a step that ran compares with the one that was played.
QString measured_sentence(Seconds measured, Seconds played, const std::vector<Diagnostic>& differences) {
    const QString took = QStringLiteral(" Measured: <b>%1</b>, ").arg(quantity(measured, 4));
    if (differences.empty()) return took + QStringLiteral("%1 times the predicted.").arg(number(measured / played));
    return took + QStringLiteral("<b>of another plan</b>: %1.").arg(q(differences.front().what).toHtmlEscaped());
}

std::shared_ptr<Chart> legend_of(const Timeline& t) {
    auto legend = std::make_shared<Legend>();
    for (const SpanKind kind : all_span_kinds) {
        if (t.by_kind[kind] <= Seconds{}) continue;
        legend->entries.push_back({static_cast<int>(kind), q(style_of(kind).name), fill_of(kind),
                                   QStringLiteral("%1 of the critical path. Click to see it alone.").arg(quantity(t.path.by_kind[kind]))});
    }
    return legend;
}

class TimelineView : public View {
public:
    TimelineView(Workbench& workbench, Selection& selection) : View(workbench, selection), state_(new SimulationState(workbench)) {
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(gap, gap, gap, gap);
        column->setSpacing(gap / 2);
        headline_ = with_name("timeline.headline", text_label(Type::body));
        legend_ = new ChartWidget(tr("Kinds of work"));
        canvas_ = new TimelineCanvas;
        canvas_->setAccessibleName(tr("The step over time"));
        scroll_ = new QScrollBar(Qt::Vertical);
        details_ = with_name("segment_details", text_label(Type::small));
        details_->setTextFormat(Qt::RichText);
        details_->setWordWrap(false);
        details_->setAlignment(Qt::AlignTop);
        details_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);  // as wide as the view, however long the text
        details_->setFixedHeight(4 * QFontMetrics(font_of(Type::small)).lineSpacing() + 4);
        auto* body = new QHBoxLayout;
        body->setSpacing(2);
        body->addWidget(canvas_, 1);
        body->addWidget(scroll_);
        column->addWidget(state_);
        column->addWidget(headline_);
        column->addWidget(controls());
        column->addWidget(legend_);
        column->addLayout(body, 1);
        column->addWidget(details_);
        connect_canvas();
        show_details();
    }

    [[nodiscard]] bool is_complete() const override { return is_played() && is_held_beside_; }
    [[nodiscard]] QWidget* takes_keys() override { return canvas_; }
    [[nodiscard]] std::vector<NamedTable> tables() const override {
        return {{QStringLiteral("segments"), &kinds_}, {QStringLiteral("links"), &links_}};
    }

private:
    QWidget* controls() {
        auto* shown = new QWidget;
        auto* row = bare_layout<QHBoxLayout>(shown, gap + 4);
        row->addStretch(1);
        search_ = new SearchBar;
        const auto add = [&](const char* name, const QString& text, const QString& tip, bool checked, void (TimelineCanvas::*set)(bool)) {
            auto* box = with_name(name, new QCheckBox(text));
            box->setToolTip(tip);
            box->setChecked(checked);
            row->addWidget(box);
            connect(box, &QCheckBox::toggled, canvas_, set);
            return box;
        };
        path_ =
            add("critical_path", tr("&Critical path"), tr("What the step could not have been shorter than, and nothing else in full color"),
                false, &TimelineCanvas::set_critical_path);
        streams_ = add("all_streams", tr("All st&reams"), tr("Communication and copies beside the kernels, each in a lane of its own"),
                       true, &TimelineCanvas::set_streams);
        add("links", tr("&Links"), tr("How busy the links are that are used most"), true, &TimelineCanvas::set_links);
        auto* fit = new QPushButton(tr("&Fit"));
        fit->setToolTip(tr("Show all of it, or the range that is selected (F)"));
        connect(fit, &QPushButton::clicked, canvas_, &TimelineCanvas::fit);
        row->addWidget(fit);
        return controls_ = new SideBySide({search_, shown}, 560);
    }

    void connect_canvas() {
        connect(state_, &SimulationState::told, canvas_, &TimelineCanvas::set_outdated);
        connect(canvas_, &TimelineCanvas::moved, this, [this] { show_scroll(); });
        connect(scroll_, &QScrollBar::valueChanged, canvas_, [this](int top) { canvas_->scroll_to(top); });
        connect(canvas_, &TimelineCanvas::chosen, this, [this](const std::optional<ChosenSpan>& span) { choose(span); });
        connect(canvas_, &TimelineCanvas::range_selected, this, [this](const std::optional<TimeRange>& range) {
            Selected next = selection().now();
            next.range = range;
            selection().set(next);
        });
        connect(&selection(), &Selection::changed, this, [this] {
            canvas_->set_range(selection().now().range);
            range_text_.clear();
            fill_tables();
            show_details();
        });
        connect(search_, &SearchBar::found, this, [this](SpanIndex s) { canvas_->choose(ChosenSpan{Origin::predicted, s}); });
        connect(legend_, &ChartWidget::chosen, this, [this](int key) {
            emphasized_ = emphasized_ == key ? std::nullopt : std::optional(key);
            legend_->emphasize(emphasized_);
            canvas_->emphasize(emphasized_ ? std::optional(static_cast<SpanKind>(*emphasized_)) : std::nullopt);
        });
        auto* find = new QShortcut(QKeySequence::Find, this);
        connect(find, &QShortcut::activated, search_, &SearchBar::begin);
    }

    // A picture in a file has no use for what can only be clicked.
    void showEvent(QShowEvent* e) override {
        const bool is_for_a_file = testAttribute(Qt::WA_DontShowOnScreen);
        controls_->setVisible(!is_for_a_file);
        details_->setVisible(!is_for_a_file);
        View::showEvent(e);
    }

    void follow(const Session& session) override {
        const auto& simulated = session.simulated;
        if (!simulated) workbench().want_simulation();
        const bool is_known = simulated && simulated->report;
        state_->show_state(session);
        const auto& content = canvas_->content();
        if (!is_known || (content && content->simulated == simulated && content->measured == session.measured)) return;
        show_timeline(simulated, session.measured);
    }

    void show_timeline(const std::shared_ptr<const Simulated>& simulated, const std::shared_ptr<const Measured>& measured) {
        const bool first = !canvas_->content();
        const auto content = content_of(simulated, measured);
        if (first && content->ranks.size() > many_ranks) streams_->setChecked(false);
        canvas_->show_content(content);
        canvas_->set_range(selection().now().range);
        if (first) canvas_->fit();
        headline_->setText(path_sentence(*simulated));
        is_held_beside_ = !measured;
        if (measured) hold_beside(simulated, measured);
        legend_->show_chart(legend_of(simulated->timeline));
        search_->look_in({simulated, simulated->timeline.trace.get()});  // the whole of it: see freed_in_background
        show_details();
        fill_tables();
    }

    // A trace alone does not say of which plan it is.
    void hold_beside(const std::shared_ptr<const Simulated>& simulated, const std::shared_ptr<const Measured>& measured) {
        in_background(
            this,
            [answer = workbench().answer(), measured] {
                return measured->run ? differences(answer->scenario, *measured->run) : std::vector<Diagnostic>();
            },
            [this, simulated, measured, content = canvas_->content()](const std::vector<Diagnostic>& differences) {
                if (canvas_->content() != content) return;
                headline_->setText(path_sentence(*simulated) +
                                   measured_sentence(measured->timeline.trace->end, simulated->report->trace.end, differences));
                is_held_beside_ = true;
                emit completed();
            });
    }

    void choose(const std::optional<ChosenSpan>& chosen) {
        Selected next = selection().now();
        next.segment.reset();
        if (chosen && chosen->origin == Origin::predicted) {
            const Trace& trace = *canvas_->content()->simulated->timeline.trace;
            const Span& span = trace.spans[chosen->span];
            next.segment = span.segment;
            next.rank = span.rank;
            next.stage = trace.ranks[span.rank].stage;
            search_->set_place(chosen->span);
        }
        selection().set(next);
        show_details();
        if (chosen) find_ties(*chosen);
    }

    void find_ties(const ChosenSpan& chosen) {
        const auto content = canvas_->content();
        in_background(
            this, [content, chosen] { return ties_of(content->of(chosen.origin), chosen.span); },
            [this, content, chosen](std::vector<Tie> ties) {
                if (canvas_->content() != content || canvas_->aspect().chosen != chosen) return;
                canvas_->set_ties(std::move(ties));
                show_details();
            });
    }

    void show_details() {
        const auto chosen = canvas_->aspect().chosen;
        if (canvas_->content() && !chosen && !range_text_.isEmpty()) {
            details_->setText(range_text_);
            details_->setToolTip(range_text_);
            return set_role(*details_, "");
        }
        if (!canvas_->content() || !chosen) {
            details_->setText(
                tr("Click a segment for its numbers and what it waited for.<br>"
                   "Shift+drag selects a range for all views.<br>"
                   "Wheel or W, S zoom; drag or A, D move; F fits.<br>"
                   "Comma and period choose the segment beside, R its range; [ and ] go to cause and effect."));
            details_->setToolTip(details_->text());
            return set_role(*details_, "faint");
        }
        const Trace& trace = *canvas_->content()->of(chosen->origin).trace;
        const Span& span = trace.spans[chosen->span];
        set_role(*details_, "");
        details_->setText(QStringLiteral("<b>%1</b>, %2<br>%3<br>%4<br>%5")
                              .arg(title_of(trace, span).toHtmlEscaped(), name_of(trace.ranks[span.rank], true),
                                   figures_of(span, canvas_->content()->step_of(chosen->origin)), cause_text(trace, canvas_->aspect().ties),
                                   effect_text(trace, canvas_->aspect().ties)));
        details_->setToolTip(details_->text());  // whose lines may be longer than a narrow view
    }

    static QString cause_text(const Trace& trace, const std::vector<Tie>& ties) {
        const auto cause = std::ranges::find(ties, TieKind::cause, &Tie::kind);
        const auto needed = std::ranges::count(ties, TieKind::needed, &Tie::kind);
        const QString text = cause == ties.end()
                                 ? tr("Nothing held it back")
                                 : tr("Began when this ended: %1").arg(title_of(trace, trace.spans[cause->from]).toHtmlEscaped());
        return needed > 0 ? text + tr("; needed %n more", nullptr, static_cast<int>(needed)) : text;
    }

    static QString effect_text(const Trace& trace, const std::vector<Tie>& ties) {
        const auto effect = std::ranges::find(ties, TieKind::effect, &Tie::kind);
        const auto effects = std::ranges::count(ties, TieKind::effect, &Tie::kind);
        if (effect == ties.end()) return {};
        const QString text = tr("Let begin: %1").arg(title_of(trace, trace.spans[effect->to]).toHtmlEscaped());
        return effects > 1 ? text + tr("; and %n more", nullptr, static_cast<int>(effects) - 1) : text;
    }

    void show_scroll() {
        const int room = static_cast<int>(canvas_->height() - TimelinePicture::ruler);
        const int most = std::max(0, static_cast<int>(canvas_->height_of_rows()) - room);
        const QSignalBlocker quiet(scroll_);
        scroll_->setRange(0, most);
        scroll_->setPageStep(room);
        scroll_->setSingleStep(24);
        scroll_->setValue(static_cast<int>(canvas_->aspect().top));
        scroll_->setVisible(most > 0);
    }

    void fill_tables() {
        const auto& content = canvas_->content();
        if (!content) return;
        const std::optional<TimeRange> selected = selection().now().range;
        in_background(
            this,
            [content, selected] {
                const SimulationReport& r = *content->simulated->report;
                const auto [from, to] = selected.value_or(TimeRange{{}, content->end});
                return std::tuple(kinds_table(r.trace, from, to), links_table(r, from, to),
                                  selected ? range_text(*content, *selected) : QString());
            },
            [this, content, selected](std::tuple<Table, Table, QString> found) {
                if (canvas_->content() != content || selection().now().range != selected) return;
                kinds_.set_table(std::move(std::get<0>(found)));
                links_.set_table(std::move(std::get<1>(found)));
                range_text_ = std::move(std::get<2>(found));
                show_details();
            });
    }

    SimulationState* state_;
    QLabel *headline_, *details_;
    QString range_text_;  // empty: no range is selected
    QWidget* controls_;
    SearchBar* search_;
    QCheckBox *path_, *streams_;
    ChartWidget* legend_;
    TimelineCanvas* canvas_;
    QScrollBar* scroll_;
    std::optional<int> emphasized_;
    bool is_held_beside_ = true;
    TableModel kinds_, links_;
};

}  // namespace

ViewInfo timeline_view() {
    return {.name = "timeline",
            .title = QStringLiteral("Timeline"),
            .tip = QStringLiteral("Who does what when: the step played event by event, and beside it one that ran"),
            .icon = "<path d='M3 5h8M13 5h4M6 10h9M3 15h5M10 15h11M8 20h9'/>",
            .make = [](Workbench& w, Selection& s) { return std::make_unique<TimelineView>(w, s); }};
}

}  // namespace sextant::gui
