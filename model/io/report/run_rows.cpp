#include "model/io/report/run_rows.hpp"

#include "model/base/grouped_digits.hpp"
#include "model/base/list_text.hpp"
#include "model/base/quantity_text.hpp"
#include "model/report/worth_telling.hpp"

#include <initializer_list>
#include <string_view>

namespace sextant {
namespace {

template <class Q>
std::string said(Q q) {
    return to_text(q);
}
std::string said(Money m) { return grouped_digits(m.si(), 3) + " USD"; }

template <class Q>
std::string with_range(Q q, const Report& r) {
    const Interval<Q> i = interval_of(q, r);
    return said(q) + "  (80 %: " + said(i.low) + " to " + said(i.high) + ")";
}

// "copy 18.9 min, unpack 2.06 min": those that take a part of `whole` worth telling; empty where none does.
std::string parts_text(std::initializer_list<std::pair<std::string_view, Seconds>> parts, Seconds whole) {
    std::string text;
    for (const auto& [name, time] : parts)
        if (time > worth_telling * whole) append_to_list(text, std::string(name) + " " + to_text(time));
    return text;
}

std::string epoch_text(const LoaderRate& rate, Seconds loading) {
    return grouped_digits(rate.samples.si(), 3) + " samples/s a node, a step's in " + to_text(loading) + ": reading " +
           to_text(rate.reading) + " and work " + to_text(rate.work) + " a sample, limit " + std::string(to_text(rate.limit));
}

SaidRows input_rows(const InputEstimate& i) {
    SaidRows rows{{"first epoch", epoch_text(i.first, i.first_loading)}, {"later epochs", epoch_text(i.later, i.later_loading)}};
    if (i.writing > Seconds{}) rows.emplace_back("written once in", to_text(i.writing) + " by one thread");
    if (i.cached > 0) rows.emplace_back("in memory by then", percent_text(i.cached, 3));
    if (i.staged > 0) rows.emplace_back("staged", percent_text(i.staged, 3));
    if (i.staging.total() > Seconds{})
        rows.emplace_back("staging", parts_text({{"copy", i.staging.copy}, {"unpack", i.staging.unpack}, {"remove", i.staging.remove}},
                                                i.staging.total()));
    if (i.copies > Seconds{}) rows.emplace_back("copies to a device", to_text(i.copies) + " a step");
    return rows;
}

SaidRows checkpoint_rows(const CheckpointEstimate& c) {
    return {{"size", to_text(c.bytes)},
            {"written in", to_text(c.write) + ", training waits " + to_text(c.wait)},
            {"every", counted(c.steps, "step")}};
}

std::string grouping_text(const Grouping& g) {
    return counted(g.tasks_per_job, "task") + " a job, " + counted(g.jobs, "job") + " of " + to_text(g.job);
}

void add_failures(SaidRows& rows, const Report& r) {
    const FailureEstimate& f = *r.run->failing;
    rows.emplace_back("failures", grouped_digits(f.expected, 3) + " expected, one every " + to_text(f.job.between) + "; " +
                                      to_text(f.job.restart) + " until the job goes on");
    if (f.best)
        rows.emplace_back("best checkpoints", "every " + counted(f.best->steps, "step") + " (" + to_text(f.best->interval) + "): goodput " +
                                                  percent_text(f.best->goodput, 3) + "; stated every " +
                                                  counted(r.checkpoints->steps, "step"));
}

SaidRows run_rows(const Report& r) {
    const RunCost& run = *r.run;
    SaidRows rows{{"steps", grouped_digits(run.steps)}, {"time", with_range(run.time, r)}};
    const std::string beside = parts_text(
        {{"staging", run.staging}, {"a slower first epoch", run.first_epoch}, {"checkpoints", run.checkpoints}, {"failures", run.failures}},
        run.time);
    if (!beside.empty()) rows.emplace_back("of that", beside + ": goodput " + percent_text(run.goodput, 3));
    if (run.failing) add_failures(rows, r);
    rows.emplace_back("device-hours", grouped_digits(run.device_time / units::hour, 4));
    rows.emplace_back("energy", with_range(run.energy, r));
    if (run.cost) rows.emplace_back("cost", with_range(*run.cost, r) + ", a device at " + to_text(*run.cost / run.device_time));
    return rows;
}

SaidRows sweep_rows(const SweepEstimate& s) {
    SaidRows rows{{"best grouping", grouping_text(s.best)},
                  {"time", to_text(s.best.time) + ", with a job for each task " + to_text(s.ungrouped)}};
    if (s.faster)
        rows.emplace_back(
            "faster", to_text(s.faster->time) + " with " + grouping_text(*s.faster) + ", " +
                          (s.faster->jobs > most_jobs ? "more than a cluster's other users put up with (" + std::to_string(most_jobs) + ")"
                                                      : "shorter than is worth a scheduler's work (" + to_text(shortest_job) + ")"));
    if (s.bound)
        rows.emplace_back(
            "storage", "is the limit from " + grouped_digits(s.bound->jobs, 3) + " jobs at once: " + std::string(to_text(s.bound->limit)));
    return rows;
}

SaidRows rate_rows(const BatchAdvice& b) {
    return {{"effective batch", grouped_digits(b.effective_batch)},
            {"linear rule", number_text(*b.linear_rate)},
            {"square-root rule", number_text(*b.square_root_rate)}};
}

}  // namespace

std::vector<SaidSection> sections_of_run(const Report& r) {
    std::vector<SaidSection> sections;
    if (r.input) sections.push_back({"Where the samples come from", input_rows(*r.input)});
    if (r.checkpoints) sections.push_back({"Checkpoints", checkpoint_rows(*r.checkpoints)});
    if (r.run) sections.push_back({"The whole run", run_rows(r)});
    if (r.sweep) sections.push_back({"The whole sweep", sweep_rows(*r.sweep)});
    if (r.batch.linear_rate) sections.push_back({"Learning rate to begin experiments with", rate_rows(r.batch)});
    return sections;
}

}  // namespace sextant
