#include "gui/models/timeline/segments.hpp"

#include "gui/models/text.hpp"
#include "gui/models/timeline/rows.hpp"
#include "model/io/trace/span_style.hpp"

#include <algorithm>
#include <map>

namespace sextant::gui {
namespace {

QString kind_name(SpanKind k) { return q(style_of(k).name); }

// The spans of one segment lie in one stream of its rank, where segments run in the order of their numbers.
std::optional<SpanIndex> span_of(const Timeline& t, SegmentIndex segment, bool last) {
    const Segment& s = t.graph->segments()[segment];
    const auto lanes = t.lanes.lanes();
    std::optional<SpanIndex> found;
    for (LaneIndex l = 0; l < lanes.size(); ++l) {
        if (lanes[l].rank != s.rank || lanes[l].stream != s.stream || lanes[l].behind) continue;
        const auto spans = t.lanes.spans(l);
        const auto number = [&](SpanIndex i) { return t.trace->spans[i].segment; };
        if (s.stream == Stream::server) {
            for (const SpanIndex i : spans)
                if (number(i) == segment && (last || !found)) found = i;
            continue;
        }
        const auto [begin, end] = std::ranges::equal_range(spans, segment, {}, number);
        if (begin != end) found = last ? *(end - 1) : *begin;
    }
    return found;
}

class TieFinder {
public:
    TieFinder(const Timeline& t, SpanIndex of, std::size_t most) : t_(t), of_(of), most_(most) {}

    std::vector<Tie> find() {
        const Span& span = t_.trace->spans[of_];
        if (span.cause != of_) add({span.cause, of_, TieKind::cause});
        for (SpanIndex i = of_ + 1; i < t_.trace->spans.size(); ++i)
            if (t_.trace->spans[i].cause == of_) add({of_, i, TieKind::effect});
        if (t_.graph) by_graph(span.segment);
        return std::move(ties_);
    }

private:
    void by_graph(SegmentIndex segment) {
        const TaskGraph& graph = *t_.graph;
        const auto here = span_of(t_, segment, false), end = span_of(t_, segment, true);
        if (!here || !end) return;
        for (const SegmentIndex s : graph.waits_for(segment))
            if (const auto from = span_of(t_, s, true)) add({*from, *here, TieKind::needed});
        for (SegmentIndex s = 0; s < graph.segments().size(); ++s)
            if (std::ranges::find(graph.waits_for(s), segment) != graph.waits_for(s).end())
                if (const auto to = span_of(t_, s, false)) add({*end, *to, TieKind::effect});
    }

    void add(const Tie& tie) {
        const auto alike = [&](const Tie& known) { return known.from == tie.from && known.to == tie.to; };
        if (std::ranges::any_of(ties_, alike)) return;
        if (static_cast<std::size_t>(std::ranges::count(ties_, tie.kind, &Tie::kind)) < most_) ties_.push_back(tie);
    }

    const Timeline& t_;
    SpanIndex of_;
    std::size_t most_;
    std::vector<Tie> ties_;
};

struct Sum {
    Seconds time;
    Bytes bytes;
    Flops flops;
    qlonglong count = 0;
};

}  // namespace

bool is_of_micro_batch(const Span& s) {
    switch (s.kind) {
        case SpanKind::forward:
        case SpanKind::backward:
        case SpanKind::weight_gradient:
        case SpanKind::recompute:
        case SpanKind::tensor_exchange:
        case SpanKind::context_exchange:
        case SpanKind::expert_exchange:
        case SpanKind::pipeline_transfer: return true;
        default: return s.micro_batch > 0;
    }
}

QString work_of(const Trace& trace, const Span& s) {
    QString name = q(trace.names[s.name]);
    const bool is_other = s.kind == SpanKind::recompute || s.kind == SpanKind::weight_gradient;
    if (const QString pass = QStringLiteral("backward"); is_other && name.startsWith(pass)) name.replace(0, pass.size(), kind_name(s.kind));
    return name;
}

QString title_of(const Trace& trace, const Span& s) {
    const QString name = work_of(trace, s), kind = kind_name(s.kind);
    QString title = name.contains(kind.section(QLatin1Char(' '), 0, 0)) ? name : kind + QStringLiteral(": ") + name;
    if (is_of_micro_batch(s)) title += QStringLiteral(" \u00b7 micro-batch %1").arg(s.micro_batch);
    if (s.chunk > 0) title += QStringLiteral(", chunk %1").arg(s.chunk);
    return title;
}

QString figures_of(const Span& s, Seconds step) {
    const Seconds time = s.end - s.start;
    QString text = QStringLiteral("at %1, takes <b>%2</b> (%3 of %4)")
                       .arg(quantity(s.start, digits_for(s.start, time)), quantity(time), percent(time / step),
                            time <= step ? QStringLiteral("the step") : QStringLiteral("a step"));
    if (s.bytes > Bytes{}) {
        const QString verb = runs_kernels(s.kind)         ? QStringLiteral("reads and writes")
                             : s.kind == SpanKind::read   ? QStringLiteral("reads")
                             : s.kind == SpanKind::decode ? QStringLiteral("decodes")
                                                          : QStringLiteral("passes on");
        text += QStringLiteral(" \u00b7 %1 %2").arg(verb, quantity(s.bytes));
        if (time > Seconds{}) text += QStringLiteral(", %1").arg(quantity(s.bytes / time));
    }
    if (s.flops > Flops{}) {
        text += QStringLiteral(" \u00b7 %1").arg(quantity(s.flops));
        if (time > Seconds{}) text += QStringLiteral(", %1").arg(quantity(s.flops / time));
    }
    return text;
}

std::vector<Tie> ties_of(const Timeline& t, SpanIndex of, std::size_t most) { return TieFinder(t, of, most).find(); }

std::vector<SpanIndex> find_spans(const Trace& trace, const QString& text) {
    const QStringList words = words_of(text);
    std::vector<SpanIndex> found;
    if (words.isEmpty()) return found;
    // There are far fewer names than spans.
    std::vector<EnumArray<SpanKind, bool, span_kind_count>> matches(trace.names.size());
    for (std::size_t n = 0; n < trace.names.size(); ++n)
        for (const SpanKind k : all_span_kinds) matches[n][k] = has_all(kind_name(k) + QLatin1Char('\n') + q(trace.names[n]), words);
    for (SpanIndex i = 0; i < trace.spans.size(); ++i)
        if (matches[trace.spans[i].name][trace.spans[i].kind]) found.push_back(i);
    return found;
}

Table kinds_table(const Trace& trace, Seconds from, Seconds to) {
    std::map<std::pair<GraphRank, SpanKind>, Sum> sums;
    for (const Span& s : trace.spans) {
        if (s.end <= from || s.start >= to) continue;
        Sum& sum = sums[{s.rank, s.kind}];
        sum.time += min(s.end, to) - max(s.start, from);
        sum.bytes += s.bytes;
        sum.flops += s.flops;
        ++sum.count;
    }
    Table table{{QStringLiteral("rank"), QStringLiteral("stage"), QStringLiteral("ranks alike"), QStringLiteral("kind"),
                 QStringLiteral("segments"), QStringLiteral("seconds"), QStringLiteral("bytes (B)"), QStringLiteral("operations (FLOP)")},
                {}};
    for (const auto& [key, sum] : sums) {
        const TraceRank& rank = trace.ranks[key.first];
        table.rows.push_back(
            {rank.rank, rank.stage, rank.multiplicity, kind_name(key.second), sum.count, sum.time.si(), sum.bytes.si(), sum.flops.si()});
    }
    return table;
}

QString shares_text(const TimeByKind& times, Seconds whole) {
    constexpr double worth_a_word = 0.01;
    constexpr int most = 4;
    auto kinds = all_span_kinds;
    const auto part = [&](SpanKind k) { return times[k] / whole; };
    std::ranges::stable_sort(kinds, std::ranges::greater(), part);
    QStringList parts;
    for (const SpanKind k : kinds) {
        if (!(part(k) >= worth_a_word) || parts.size() == most) break;
        parts += QStringLiteral("%1 %2").arg(kind_name(k), percent(part(k)));
    }
    return parts.isEmpty() ? QStringLiteral("nothing") : parts.join(QStringLiteral(", "));
}

TimeByKind kinds_within(const Trace& trace, Seconds from, Seconds to) {
    TimeByKind times;
    double ranks = 0;
    for (const TraceRank& rank : trace.ranks) ranks += rank.server ? 0 : rank.multiplicity;
    for (const Span& s : trace.spans) {
        const TraceRank& rank = trace.ranks[s.rank];
        if (s.end <= from || s.start >= to || rank.server) continue;
        times[s.kind] += rank.multiplicity / ranks * (min(s.end, to) - max(s.start, from));
    }
    return times;
}

TimeByKind path_within(const Timeline& t, Seconds from, Seconds to) {
    TimeByKind times;
    for (const SpanIndex i : t.path.spans) {
        const Span& s = t.trace->spans[i];
        const Seconds begin = max(s.start, from), end = min(s.end, to);
        if (end <= begin) continue;
        times[s.kind] += end - begin;
        from = end;  // what two of them share counts once
    }
    return times;
}

double mean_within(const UtilizationSeries& series, Seconds end, Seconds from, Seconds to) {
    const auto count = static_cast<double>(series.busy.size());
    const double left = std::clamp(from / end * count, 0.0, count), right = std::clamp(to / end * count, 0.0, count);
    double sum = 0;
    for (auto i = static_cast<std::size_t>(left); i < series.busy.size() && static_cast<double>(i) < right; ++i)
        sum += series.busy[i] * (std::min(right, static_cast<double>(i + 1)) - std::max(left, static_cast<double>(i)));
    return right > left ? sum / (right - left) : 0;
}

Table links_table(const SimulationReport& r, Seconds from, Seconds to) {
    Table table{{QStringLiteral("link"), QStringLiteral("links alike"), QStringLiteral("utilization"), QStringLiteral("highest")}, {}};
    for (const UtilizationSeries* s : busiest_links(r, r.links.size()))
        table.rows.push_back({q(s->name), s->count, mean_within(*s, r.trace.end, from, to), highest_of(*s)});
    return table;
}

}  // namespace sextant::gui
