// A range that is selected in the timeline, and what the other views make of it.
#include "gui/models/range_terms.hpp"
#include "gui/models/simulated.hpp"
#include "model/report/trace_terms.hpp"
#include "tests/gui/desk.hpp"

#include <map>

namespace sextant::gui {
namespace {

class Range : public Desk {
protected:
    const Trace& play(const char* scenario) {
        open(scenario);
        show_view("timeline");
        return workbench.session()->simulated->report->trace;
    }
    void select(const TimeRange& range) {
        Selected next = selection.now();
        next.range = range;
        selection.set(next);
    }
    // Null where the view has none of that name.
    const QAbstractItemModel* table(const char* view, const char* name) {
        for (const NamedTable& t : window.view(view).tables())
            if (t.name == QLatin1String(name)) return t.model;
        return nullptr;
    }
};

TEST_F(Range, ItsPartsAreDividedAsTheWholeStepIs) {
    const Trace& trace = play("mixtral-8x7b-128xh100");
    const auto before = terms_within(trace, {{}, 0.3 * trace.end}), behind = terms_within(trace, {0.3 * trace.end, trace.end});
    ASSERT_EQ(before.size(), 4U) << "one rank for each stage";
    const Terms whole = terms_of(trace, 0);
    for (const Term term : all_terms) {
        EXPECT_NEAR((before[0].terms[term] + behind[0].terms[term]).si(), whole[term].si(), 1e-9) << to_text(term);
    }
}

TEST_F(Range, IsDividedInTheBreakdownAndSumsToItself) {
    const Trace& trace = play("mixtral-8x7b-128xh100");
    show_view("breakdown");
    EXPECT_FALSE(table("breakdown", "range")) << "nothing is selected";
    const TimeRange range{0.2 * trace.end, 0.25 * trace.end};
    select(range);
    settle();
    const QAbstractItemModel* divided = table("breakdown", "range");
    ASSERT_TRUE(divided);
    std::map<QString, double> sums;
    for (int row = 0; row < divided->rowCount(); ++row)
        sums[divided->index(row, 0).data().toString()] += divided->index(row, 2).data().toDouble();
    EXPECT_EQ(sums.size(), 4U);
    for (const auto& [rank, sum] : sums) EXPECT_NEAR(sum / (range.to - range.from).si(), 1, 1e-6) << rank.toStdString();
    selection.clear();
    EXPECT_FALSE(table("breakdown", "range"));
}

TEST_F(Range, IsFollowedToAnotherPlan) {
    const Trace& trace = play("default");
    select({{}, 0.5 * trace.end});
    show_view("breakdown");
    edit({{"plan.micro_batch", "2"}});
    ASSERT_TRUE(workbench.session()->simulated) << "played anew, as a range of it is shown";
    EXPECT_TRUE(table("breakdown", "range"));
}

}  // namespace
}  // namespace sextant::gui
