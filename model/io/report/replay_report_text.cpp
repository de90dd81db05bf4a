#include "model/base/grouped_digits.hpp"
#include "model/io/format/text_table.hpp"
#include "model/io/report/replay_report_writer.hpp"

namespace sextant {
namespace {

// What a term is called before people.
constexpr std::string_view term_texts[replay_term_count] = {"kernels",     "host",      "copies",
                                                            "collectives", "transfers", "waiting for other ranks"};
std::string term_text(ReplayTerm t) { return std::string(term_texts[static_cast<std::size_t>(t)]); }

double share(Seconds part, Seconds of) { return of > Seconds{} ? part / of : 0; }

std::string terms_text(const ReplayReport& r) {
    const ReplayReport::OfRank& last = r.ranks[r.last];
    TextTable table("  ", {Align::left, Align::right, Align::right, Align::left});
    for (const ReplayTerm t : all_replay_terms) {
        const double part = share(last.terms[t], r.step);
        if (last.terms[t] > Seconds{}) table.row({term_text(t), to_text(last.terms[t]), percent_text(part, 2), share_bar(part)});
    }
    for (const ReplayTerm t : all_replay_terms) {
        if (last.overlapped[t] > Seconds{}) table.row({"hidden " + term_text(t), to_text(last.overlapped[t]), "", ""});
    }
    return "\nWhere the time goes (rank " + std::to_string(last.rank) + ", which finishes last)\n" + table.text();
}

std::string communication_text(const ReplayReport& r) {
    if (r.communication.empty()) return {};
    TextTable table("  ", {Align::left, Align::right, Align::right, Align::right});
    table.row({"", "calls", "bytes", "under way"});
    for (const ReplayReport::Calls& c : r.communication)
        table.row({words(c.what), grouped_digits(c.calls), to_text(c.bytes), to_text(c.time)});
    return "\nIts communication\n" + table.text();
}

std::string ranks_text(const ReplayReport& r) {
    if (r.ranks.size() < 2) return {};
    TextTable table("  ", Align::right);
    std::vector<std::string> head{"rank", "end"};
    for (const ReplayTerm t : all_replay_terms) head.emplace_back(to_text(t));
    table.row(std::move(head));
    for (const ReplayReport::OfRank& rank : r.ranks) {
        std::vector<std::string> row{std::to_string(rank.rank), to_text(rank.end)};
        for (const ReplayTerm t : all_replay_terms) row.push_back(percent_text(share(rank.terms[t], r.step), 2));
        table.row(std::move(row));
    }
    std::string text = "\nRanks\n" + table.text();
    if (r.ranks.size() < r.all_ranks) text += "  " + grouped_digits(r.all_ranks - r.ranks.size()) + " other ranks lie between these\n";
    return text;
}

}  // namespace

std::string replay_report_to_text(const ReplayReport& r) {
    TextTable table;
    table.row({"trace", grouped_digits(r.nodes) + " nodes of " + counted(r.all_ranks, "rank")});
    table.row({"hardware", r.hardware});
    table.row({"library", r.library});
    table.row({"step time", to_text(r.step, 4)});
    return r.trace_name + "\n" + table.text() + terms_text(r) + communication_text(r) + ranks_text(r);
}

}  // namespace sextant
