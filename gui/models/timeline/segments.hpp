// What is known of one segment of a timeline: in words, and how it depends on others.
#pragma once

#include "gui/models/table_model.hpp"
#include "gui/models/timeline/timeline.hpp"
#include "model/report/simulation_report.hpp"

#include <QString>

#include <vector>

namespace sextant::gui {

// Whether the span belongs to one micro-batch, not to the whole step.
bool is_of_micro_batch(const Span&);
// The work of a span: "forward, block 3-5". Recompute is named as such, not by the pass that needs it.
QString work_of(const Trace&, const Span&);
// The title of a span: its work and its micro-batch.
QString title_of(const Trace&, const Span&);
// The numbers of a span: start, duration, fraction of the step, bytes, operations and their rates.
QString figures_of(const Span&, Seconds step);

enum class TieKind {
    cause,   // the span whose end started it
    needed,  // another span that it had to wait for
    effect,  // a span that it started, or that had to wait for it
};
struct Tie {
    SpanIndex from = 0, to = 0;  // from ends before to begins
    TieKind kind = TieKind::cause;
    friend bool operator==(const Tie&, const Tie&) = default;
};
// At most `most` ties of each kind. Takes some time where the trace is long: for worker threads.
std::vector<Tie> ties_of(const Timeline&, SpanIndex, std::size_t most = 200);

// The spans whose kind or title contains every word, in order of time. For worker threads.
std::vector<SpanIndex> find_spans(const Trace&, const QString& text);

// Time, count, bytes and operations of each kind on each rank, within a range of time.
Table kinds_table(const Trace&, Seconds from, Seconds to);
Table links_table(const SimulationReport&, Seconds from, Seconds to);

// "backward 63 %, forward 20 %": the largest parts of a time, without negligible ones.
QString shares_text(const TimeByKind&, Seconds whole);
// The mean over all ranks. Spans that run at the same time all count. For worker threads.
TimeByKind kinds_within(const Trace&, Seconds from, Seconds to);
TimeByKind path_within(const Timeline&, Seconds from, Seconds to);

// The mean of a series over a range of time. `end`: of its last interval.
double mean_within(const UtilizationSeries&, Seconds end, Seconds from, Seconds to);

}  // namespace sextant::gui
