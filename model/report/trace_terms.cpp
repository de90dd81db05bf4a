#include "model/report/trace_terms.hpp"

#include <algorithm>
#include <optional>

namespace sextant {
namespace {

// Takes stretches in order of time and joins neighbours of one term.
class Timeline {
public:
    void add(Seconds start, Seconds end, Term term) {
        if (end <= start) return;
        if (!stretches_.empty() && stretches_.back().term == term)
            stretches_.back().end = end;
        else
            stretches_.push_back({start, end, term});
    }
    std::vector<TermStretch> take() && { return std::move(stretches_); }

private:
    std::vector<TermStretch> stretches_;
};

class TimelineOfRank {
public:
    TimelineOfRank(const Trace& trace, GraphRank rank) : trace_(trace), rank_(rank) {
        for (SpanIndex i = 0; i < trace.spans.size(); ++i) {
            const Span& s = trace.spans[i];
            if (s.rank != rank) continue;
            if (!last_ || s.end > trace.spans[*last_].end) last_ = i;
            if (s.stream == Stream::compute) (is_exchange(s.kind) ? exchanges_ : kernels_).push_back(i);
        }
    }

    std::vector<TermStretch> divide() && {
        Seconds now;
        for (const SpanIndex i : kernels_) {
            const Span& kernel = trace_.spans[i];
            fill_with_exchanges(now, min(kernel.start, trace_.end), i);
            now = max(now, min(kernel.start, trace_.end));
            const Seconds end = min(kernel.end, trace_.end);
            timeline_.add(now, end, term_of(kernel.kind));
            now = max(now, end);
        }
        fill_with_exchanges(now, trace_.end, {});
        return std::move(timeline_).take();
    }

private:
    // No kernel runs in between; `next` is the one that ends the gap, none at the end of the step.
    void fill_with_exchanges(Seconds from, Seconds to, std::optional<SpanIndex> next) {
        while (first_exchange_ < exchanges_.size() && trace_.spans[exchanges_[first_exchange_]].end <= from) ++first_exchange_;
        for (std::size_t e = first_exchange_; e < exchanges_.size() && from < to; ++e) {
            const Span& exchange = trace_.spans[exchanges_[e]];
            if (exchange.start >= to) break;
            if (exchange.end <= from) continue;
            explain_gap(from, exchange.start, exchanges_[e]);
            from = max(from, exchange.start);
            const Seconds end = min(exchange.end, to);
            timeline_.add(from, end, term_of(exchange.kind));
            from = end;
        }
        explain_gap(from, to, next);
    }

    // The compute stream is idle in between. Walks back from the span that ends the gap, then writes what it found in order of time.
    void explain_gap(Seconds from, Seconds to, std::optional<SpanIndex> next) {
        if (from >= to) return;
        backwards_.clear();
        Seconds now = to;
        const auto explain_back_to = [&](Seconds t, Term term) {
            t = max(t, from);
            if (t >= now) return;
            backwards_.push_back({t, now, term});
            now = t;
        };
        if (!next) {
            // The end of the step: what this rank did last, and from then on the rank that was last.
            if (!last_) return timeline_.add(from, to, wait_for(last_rank(trace_)));
            explain_back_to(trace_.spans[*last_].end, wait_for(last_rank(trace_)));
            explain_back_to(trace_.spans[*last_].start, term_of(trace_.spans[*last_].kind));
            next = last_;
        }
        // A chain of causes is never longer than the trace, unless the trace contradicts itself.
        for (std::size_t steps = 0; now > from && steps < trace_.spans.size(); ++steps) {
            const Span& effect = trace_.spans[*next];
            const Span& cause = trace_.spans[effect.cause];
            if (effect.cause == *next) break;
            explain_back_to(cause.end, is_exchange(effect.kind) ? term_of(effect.kind) : latency_of(effect));
            if (cause.rank != rank_ && !is_communication(cause.kind)) {
                explain_back_to(from, wait_for(cause.rank));
                break;
            }
            explain_back_to(cause.start, term_of(cause.kind));
            next = effect.cause;
        }
        explain_back_to(from, without_cause(trace_.spans[*next]));
        for (auto s = backwards_.rbegin(); s != backwards_.rend(); ++s) timeline_.add(s->start, s->end, s->term);
    }

    // Whether a span of another rank is itself what this one waits for: it is on the way here, or in a server.
    static bool is_communication(SpanKind k) {
        return k == SpanKind::pipeline_transfer || k == SpanKind::data_exchange || k == SpanKind::serve;
    }

    Term wait_for(GraphRank other) const { return trace_.ranks[other].stage == trace_.ranks[rank_].stage ? Term::straggler : Term::bubble; }

    // Between the end of its cause and its start.
    static Term latency_of(const Span& s) { return s.stream == Stream::compute ? Term::launch : term_of(s.kind); }

    static Term without_cause(const Span& s) {
        if (s.kind == SpanKind::pipeline_transfer) return Term::bubble;
        return is_exchange(s.kind) ? Term::straggler : latency_of(s);
    }

    const Trace& trace_;
    GraphRank rank_;
    std::vector<SpanIndex> kernels_, exchanges_;  // of the compute stream
    std::optional<SpanIndex> last_;               // of this rank to end
    std::size_t first_exchange_ = 0;
    std::vector<TermStretch> backwards_;
    Timeline timeline_;
};

// How long `spans`, ordered by start, cover what `timeline` gives to terms other than `term`.
Seconds outside(const std::vector<const Span*>& spans, const std::vector<TermStretch>& timeline, Term term) {
    Seconds sum, covered;
    auto stretch = timeline.begin();
    for (const Span* s : spans) {
        const Seconds start = max(s->start, covered);
        while (stretch != timeline.end() && stretch->end <= start) ++stretch;
        for (auto t = stretch; t != timeline.end() && t->start < s->end; ++t)
            if (t->term != term) sum += max(Seconds{}, min(s->end, t->end) - max(start, t->start));
        covered = max(covered, s->end);
    }
    return sum;
}

}  // namespace

Term term_of(SpanKind k) {
    switch (k) {
        case SpanKind::forward: return Term::forward;
        case SpanKind::backward:
        case SpanKind::weight_gradient: return Term::backward;
        case SpanKind::recompute: return Term::recompute;
        case SpanKind::optimizer: return Term::optimizer;
        case SpanKind::tensor_exchange: return Term::tensor_communication;
        case SpanKind::context_exchange: return Term::context_communication;
        case SpanKind::expert_exchange: return Term::expert_communication;
        case SpanKind::pipeline_transfer: return Term::pipeline_communication;
        case SpanKind::data_exchange:
        case SpanKind::serve: return Term::data_communication;
        case SpanKind::launch: return Term::launch;
        case SpanKind::offload: return Term::offload;
        case SpanKind::overhead: return Term::overhead;
        case SpanKind::input:
        case SpanKind::read:
        case SpanKind::decode:
        case SpanKind::device_copy: return Term::input;
    }
    return Term::overhead;
}

GraphRank last_rank(const Trace& trace) {
    std::vector<Seconds> end(trace.ranks.size());
    for (const Span& s : trace.spans) end[s.rank] = max(end[s.rank], s.end);
    GraphRank last = 0;
    for (GraphRank r = 1; r < end.size(); ++r) {
        if (trace.ranks[r].server) continue;
        if (trace.ranks[last].server || end[r] > end[last]) last = r;
    }
    return last;
}

std::vector<TermStretch> term_timeline(const Trace& trace, GraphRank rank) { return TimelineOfRank(trace, rank).divide(); }

Terms terms_of(const Trace& trace, GraphRank rank) {
    Terms terms;
    for (const TermStretch& s : term_timeline(trace, rank)) terms[s.term] += s.end - s.start;
    return terms;
}

Terms overlapped_of(const Trace& trace, GraphRank rank) {
    EnumArray<Term, std::vector<const Span*>, term_count> by_term;
    for (const Span& s : trace.spans)
        if (s.rank == rank && (is_exchange(s.kind) || s.kind == SpanKind::offload || term_of(s.kind) == Term::input))
            by_term[term_of(s.kind)].push_back(&s);
    const std::vector<TermStretch> timeline = term_timeline(trace, rank);
    Terms overlapped;
    for (const Term t : all_terms) overlapped[t] = outside(by_term[t], timeline, t);
    return overlapped;
}

Terms per_step(Terms of_several, int steps) {
    for (Seconds& t : of_several) t /= steps;
    return of_several;
}

}  // namespace sextant
