#include "model/report/replay_report.hpp"

#include "model/base/evenly_spread.hpp"
#include "model/report/trace_terms.hpp"

#include <algorithm>
#include <map>

namespace sextant {
namespace {

constexpr std::size_t most_ranks = 32;

ReplayTerm replay_term(Term t) {
    switch (t) {
        case Term::forward: return ReplayTerm::kernels;
        case Term::offload: return ReplayTerm::copies;
        case Term::data_communication: return ReplayTerm::collectives;
        case Term::pipeline_communication: return ReplayTerm::transfers;
        case Term::bubble:
        case Term::straggler: return ReplayTerm::waiting;
        default: return ReplayTerm::host;
    }
}

ReplayTerms replay_terms(const Terms& terms) {
    ReplayTerms found;
    for (const Term t : all_terms) found[replay_term(t)] += terms[t];
    return found;
}

// Spans are called after the nodes that they come from.
void name_spans(const RecordedGraph& recorded, Trace& trace) {
    for (WorkIndex w = 0; w < trace.names.size(); ++w)
        if (const RecordedNode* node = recorded.kind_of(w)) trace.names[w] = node->name;
}

std::vector<ReplayReport::Calls> communication_of(const RecordedGraph& recorded, const Trace& trace, GraphRank rank) {
    std::map<std::string, ReplayReport::Calls> calls;
    for (const Span& span : trace.spans) {
        if (span.rank != rank || !is_exchange(span.kind)) continue;
        const RecordedNode& node = *recorded.kind_of(recorded.graph.segments()[span.segment].work);
        const std::string what = node.kind == RecordedNode::Kind::send ? "send" : std::string(to_text(node.collective));
        ReplayReport::Calls& of_kind = calls[what];
        of_kind.what = what;
        ++of_kind.calls;
        of_kind.bytes += node.bytes;
        of_kind.time += span.end - span.start;
    }
    std::vector<ReplayReport::Calls> list;
    list.reserve(calls.size());
    for (auto& [what, of_kind] : calls) list.push_back(std::move(of_kind));
    return list;
}

}  // namespace

std::string_view to_text(ReplayTerm t) {
    static constexpr std::string_view names[] = {"kernels", "host", "copies", "collectives", "transfers", "waiting"};
    return names[static_cast<std::size_t>(t)];
}

std::string_view replay_name(SpanKind kind) { return to_text(replay_term(term_of(kind))); }

ReplayReport make_replay_report(const RecordedGraph& recorded, Simulation simulation) {
    ReplayReport report;
    report.trace = std::move(simulation.trace);
    report.devices = std::move(simulation.devices);
    report.links = std::move(simulation.links);
    report.events = simulation.events;
    report.nodes = recorded.graph.segments().size();
    report.step = report.trace.end;
    report.all_ranks = report.trace.ranks.size();
    name_spans(recorded, report.trace);
    std::vector<Seconds> end(report.all_ranks);
    for (const Span& span : report.trace.spans) end[span.rank] = max(end[span.rank], span.end);
    const GraphRank last = last_rank(report.trace);
    for (const std::size_t i : evenly_spread(report.all_ranks, most_ranks, last)) {
        const auto r = static_cast<GraphRank>(i);
        if (r == last) report.last = report.ranks.size();
        report.ranks.push_back(
            {static_cast<int>(r), end[r], replay_terms(terms_of(report.trace, r)), replay_terms(overlapped_of(report.trace, r))});
    }
    report.communication = communication_of(recorded, report.trace, last);
    return report;
}

std::vector<NamedQuantity> named_quantities(const ReplayReport& r) {
    std::vector<NamedQuantity> list = {{"step_time", r.step}};
    for (const ReplayTerm t : all_replay_terms) {
        const ReplayReport::OfRank& last = r.ranks[r.last];
        list.emplace_back("terms." + std::string(to_text(t)), last.terms[t]);
        list.emplace_back("overlapped." + std::string(to_text(t)), last.overlapped[t]);
        list.emplace_back("share." + std::string(to_text(t)), r.step > Seconds{} ? last.terms[t] / r.step : 0.0);
    }
    return list;
}

}  // namespace sextant
