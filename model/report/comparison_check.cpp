#include "model/base/diagnostics.hpp"
#include "model/plan/job_settings.hpp"
#include "model/report/comparison.hpp"

#include <algorithm>
#include <set>

namespace sextant {
namespace {

std::string how_it_was_made(const RunRecord& run) {
    std::string text = "the run was made of " + run.scenario_file;
    for (const std::string& o : run.overrides) text += " --set " + o;
    return text + (run.overrides.empty() ? ", without --set" : "") + ": compare it with the same";
}

class PlanCheck {
public:
    PlanCheck(const TaskGraph& graph, const Scenario& scenario, const RunRecord& run) : graph_(graph), scenario_(scenario), run_(run) {}

    void check() {
        check_settings();
        check_operators();
        if (check_ranks()) check_works();
        diagnostics_.throw_if_any();
    }

private:
    void complain(std::string what, std::string pointer = "/plan") {
        const std::string hint = diagnostics_.empty() ? how_it_was_made(run_) : "";
        diagnostics_.add({scenario_.file, std::move(pointer), std::move(what), hint});
    }

    // Works do not tell how large they are.
    void check_settings() {
        for (const auto& [pointer, here] : job_settings(scenario_))
            if (const auto ran = run_.settings.find(pointer); ran != run_.settings.end() && ran->second != here)
                complain("the run had " + pointer.substr(pointer.find_last_of('/') + 1) + " " + ran->second + ", this scenario has " + here,
                         pointer);
    }

    void check_operators() {
        const auto& blocks = graph_.network().templates;
        const auto is_planned = [&](const OperatorTime& o) {
            if (static_cast<std::size_t>(o.block_template) >= blocks.size()) return false;
            if (!o.operator_index) return o.name == gradient_sums_name;
            const auto operators = blocks[static_cast<std::size_t>(o.block_template)].graph.operators();
            const auto index = static_cast<std::size_t>(*o.operator_index);
            return index < operators.size() && operators[index].name == o.name;
        };
        const auto other = std::ranges::find_if_not(run_.operators, is_planned);
        if (other != run_.operators.end())
            complain("the run timed \"" + other->name + "\" of \"" + other->block + "\", which this network does not have there",
                     "/workload");
    }

    bool check_ranks() {
        const std::size_t problems = diagnostics_.list().size();
        const auto ranks = graph_.ranks();
        const auto& run_ranks = run_.trace.ranks;
        if (run_ranks.size() != ranks.size()) {
            complain("the run has " + std::to_string(run_ranks.size()) + " ranks, this plan " + std::to_string(ranks.size()));
            return false;
        }
        for (std::size_t r = 0; r < ranks.size(); ++r) {
            const RankInfo& plan = ranks[r];
            const TraceRank& ran = run_ranks[r];
            if (plan.server != ran.server || plan.rank != ran.rank)
                complain("rank " + std::to_string(r) + " is " + name_of(ran) + " in the run, " +
                         name_of({plan.rank, plan.stage, 1, plan.server, {}}) + " in this plan");
            else if (plan.stage != ran.stage)
                complain(name_of(ran) + " is of stage " + std::to_string(ran.stage) + " in the run, of stage " +
                         std::to_string(plan.stage) + " in this plan");
        }
        return diagnostics_.list().size() == problems;
    }

    void check_works() {
        std::vector<std::string> names;
        for (const Work& work : graph_.works()) names.push_back(describe(work));
        const std::set<std::string> planned(names.begin(), names.end()), ran(run_.trace.names.begin(), run_.trace.names.end());
        if (const auto extra = first_absent(ran, planned); !extra.empty())
            complain("the run did \"" + extra + "\", which this plan does not");
        if (const auto lacks = first_absent(planned, ran); !lacks.empty())
            complain("this plan does \"" + lacks + "\", which the run did not");
        if (diagnostics_.empty()) check_segments(names);
    }
    static std::string first_absent(const std::set<std::string>& of, const std::set<std::string>& in) {
        const auto absent = std::ranges::find_if(of, [&](const std::string& name) { return !in.contains(name); });
        return absent == of.end() ? std::string() : *absent;
    }

    void check_segments(const std::vector<std::string>& names) {
        const auto is_planned = [&](const Span& s) {
            if (s.segment >= graph_.segments().size()) return false;
            const Segment& segment = graph_.segments()[s.segment];
            // A server also does what follows from the last of the gradients that it was sent.
            const bool there = graph_.ranks()[s.rank].server || (segment.rank == s.rank && segment.stream == s.stream);
            return there && segment.micro_batch == s.micro_batch && names[segment.work] == run_.trace.names[s.name];
        };
        const auto& spans = run_.trace.spans;
        const auto other = std::ranges::find_if_not(spans, is_planned);
        if (other == spans.end()) return;
        complain("span " + std::to_string(other - spans.begin()) + " of the run, \"" + run_.trace.names[other->name] + "\" of rank " +
                 std::to_string(other->rank) + ", is not what this plan does there");
    }

    const TaskGraph& graph_;
    const Scenario& scenario_;
    const RunRecord& run_;
    Diagnostics diagnostics_;
};

}  // namespace

void check_same_plan(const TaskGraph& graph, const Scenario& scenario, const RunRecord& run) { PlanCheck(graph, scenario, run).check(); }

}  // namespace sextant
