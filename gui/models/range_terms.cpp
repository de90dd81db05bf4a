#include "gui/models/range_terms.hpp"

#include "gui/models/text.hpp"
#include "gui/models/timeline/rows.hpp"
#include "model/report/trace_terms.hpp"

#include <set>

namespace sextant::gui {

std::vector<RangeTerms> terms_within(const Trace& trace, const TimeRange& range) {
    std::vector<RangeTerms> list;
    std::set<int> stages;
    const bool pipelined = is_pipelined(trace);
    for (GraphRank r = 0; r < trace.ranks.size(); ++r) {
        if (trace.ranks[r].server || !stages.insert(trace.ranks[r].stage).second) continue;
        RangeTerms within{name_of(trace.ranks[r], pipelined), {}};
        for (const TermStretch& stretch : term_timeline(trace, r))
            within.terms[stretch.term] += max(Seconds{}, min(stretch.end, range.to) - max(stretch.start, range.from));
        list.push_back(std::move(within));
    }
    return list;
}

Table range_table(const std::vector<RangeTerms>& list) {
    Table table{{QStringLiteral("rank"), QStringLiteral("term"), QStringLiteral("seconds")}, {}};
    for (const RangeTerms& within : list)
        for (const Term term : all_terms)
            if (within.terms[term] > Seconds{}) table.rows.push_back({within.name, words_of(term), within.terms[term].si()});
    return table;
}

}  // namespace sextant::gui
