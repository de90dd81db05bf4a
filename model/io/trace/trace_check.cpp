#include "model/io/trace/trace_check.hpp"

#include <cmath>

namespace sextant {
namespace {

// Times of a measured trace are rounded.
constexpr double beyond_end = 1 + 1e-9;

bool is_amount(double value) { return std::isfinite(value) && value >= 0; }

class TraceChecker {
public:
    using PointerTo = std::function<std::string(std::string_view)>;
    TraceChecker(const Trace& trace, const std::string& file, Diagnostics& diagnostics, const PointerTo& pointer_to)
        : trace_(trace), file_(file), diagnostics_(diagnostics), pointer_to_(pointer_to) {}

    void check() {
        if (!is_amount(trace_.end.si())) complain("/end_s", "the end of the step is no time");
        check_ranks();
        check_references();
        check_times();
        each_span("/spans/bytes", "is no number of bytes", [](const Span& s) { return is_amount(s.bytes.si()); });
        each_span("/spans/flops", "is no number of operations", [](const Span& s) { return is_amount(s.flops.si()); });
    }

private:
    void complain(const std::string& column, std::string what) { diagnostics_.add({file_, pointer_to_(column), std::move(what), {}}); }

    template <class Rows, class Holds>
    void each(const Rows& rows, const std::string& word, const std::string& pointer, const std::string& otherwise, Holds holds) {
        std::size_t broken = 0, first = 0;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (!holds(rows[i]) && broken++ == 0) first = i;
        if (broken == 0) return;
        std::string what = word + " " + std::to_string(first) + ": " + otherwise;
        if (broken > 1) what += ", and " + std::to_string(broken - 1) + " more";
        complain(pointer, std::move(what));
    }
    template <class Holds>
    void each_span(const std::string& pointer, const std::string& otherwise, Holds holds) {
        each(trace_.spans, "span", pointer, otherwise, holds);
    }

    void check_ranks() {
        if (trace_.ranks.empty() && !trace_.spans.empty()) complain("/ranks", "there are spans and no ranks");
        each(trace_.ranks, "rank", "/ranks/rank", "a rank's number is negative", [](const TraceRank& r) { return r.rank >= 0; });
        each(trace_.ranks, "rank", "/ranks/stage", "a stage is negative", [](const TraceRank& r) { return r.stage >= 0; });
        each(trace_.ranks, "rank", "/ranks/multiplicity", "stands for no rank", [](const TraceRank& r) { return r.multiplicity >= 1; });
    }

    void check_references() {
        each_span("/spans/rank", "is of none of the ranks", [&](const Span& s) { return s.rank < trace_.ranks.size(); });
        each_span("/spans/name", "has none of the names", [&](const Span& s) { return s.name < trace_.names.size(); });
        each_span("/spans/stream", "has no known stream", [](const Span& s) { return static_cast<int>(s.stream) < stream_count; });
        each_span("/spans/kind", "has no known kind", [](const Span& s) { return static_cast<int>(s.kind) < span_kind_count; });
        each_span("/spans/cause", "its cause is no span, or begins after it",
                  [&](const Span& s) { return s.cause < trace_.spans.size() && trace_.spans[s.cause].start <= s.start; });
    }

    void check_times() {
        each_span("/spans/start", "does not begin at a time within the step",
                  [&](const Span& s) { return is_amount(s.start.si()) && s.start <= trace_.end * beyond_end; });
        each_span("/spans/end", "does not end at a time after its start and within the step",
                  [&](const Span& s) { return s.end >= s.start && s.end <= trace_.end * beyond_end; });
        each_span("/spans/start", "begins before the span in front of it: spans are ordered by start",
                  [&](const Span& s) { return &s == trace_.spans.data() || !(s.start < (&s - 1)->start); });
    }

    const Trace& trace_;
    const std::string& file_;
    Diagnostics& diagnostics_;
    const PointerTo& pointer_to_;
};

}  // namespace

void check_trace(const Trace& trace, const std::string& file, Diagnostics& diagnostics,
                 const std::function<std::string(std::string_view)>& pointer_to) {
    TraceChecker(trace, file, diagnostics, pointer_to).check();
}

}  // namespace sextant
