// What is known of one segment of a timeline: in words, and with whom it hangs together.
#pragma once

#include "gui/models/table_model.hpp"
#include "gui/models/timeline/timeline.hpp"
#include "model/report/simulation_report.hpp"

#include <QString>

#include <array>
#include <vector>

namespace sextant::gui {

// Whether it is one micro-batch that it is for, and not the whole step.
bool is_of_micro_batch(const Span&);
// The work that it is: "forward, block 3-5"; what runs forward again is named so, and not by the pass that it is for.
QString work_of(const Trace&, const Span&);
// What a span is called: its work, and of which micro-batch.
QString title_of(const Trace&, const Span&);
// Its numbers: from when, how long and which part of a step, how many bytes and operations, and at which rates.
QString figures_of(const Span&, Seconds step);

enum class Bond {
    cause,   // whose end let it begin
    needed,  // it had to wait for this too
    effect,  // it let this begin, or this had to wait for it
};
struct Tie {
    SpanIndex from = 0, to = 0;  // from ends before to begins
    Bond bond = Bond::cause;
    friend bool operator==(const Tie&, const Tie&) = default;
};
// Takes some time where the trace is long: for worker threads. No more than `most` of each kind.
std::vector<Tie> ties_of(const Timeline&, SpanIndex, std::size_t most = 200);

// The spans whose kind or title contains every word, in order of time. For worker threads.
std::vector<SpanIndex> find_spans(const Trace&, const QString& text);

// Time, count, bytes and operations of each kind on each rank, within a part of time.
Table kinds_table(const Trace&, Seconds from, Seconds to);
Table links_table(const SimulationReport&, Seconds from, Seconds to);

// "backward 63 %, forward 20 %": the largest parts of a time, as far as each is worth a word.
QString shares_text(const TimeByKind&, Seconds whole);
// On average over all ranks; what runs at the same time counts each for itself. For worker threads.
TimeByKind kinds_within(const Trace&, Seconds from, Seconds to);
TimeByKind path_within(const Timeline&, Seconds from, Seconds to);

// Of the intervals that a series has, averaged over a part of time.
double mean_within(const UtilizationSeries&, Seconds end, Seconds from, Seconds to);

}  // namespace sextant::gui
