#include "model/report/profiler_comparison.hpp"

#include "model/base/grouped_digits.hpp"
#include "model/report/trace_terms.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

std::vector<KernelTime> kernels_of(const Trace& trace) {
    std::vector<KernelTime> kernels(trace.names.size());
    for (const Span& s : trace.spans) {
        KernelTime& k = kernels[s.name];
        if (k.calls == 0) {
            k.name = trace.names[s.name];
            k.kind = s.kind;
        }
        ++k.calls;
        k.time += s.end - s.start;
    }
    std::erase_if(kernels, [](const KernelTime& k) { return k.kind == SpanKind::launch || k.kind == SpanKind::input; });
    std::ranges::stable_sort(kernels, [](const KernelTime& a, const KernelTime& b) { return a.time > b.time; });
    return kernels;
}

std::vector<std::string> notes_on(const Scenario& s, const ProfilerRecord& profile) {
    std::vector<std::string> notes;
    if (profile.steps.size() == 1) notes.emplace_back("one step alone: its end is that of its last kernel, before what its host still did");
    if (s.plan.pp > 1)
        notes.push_back("predicted terms are of the stage that finishes last, measured ones of the stage of rank " +
                        std::to_string(profile.rank));
    if (s.plan.devices() > 1) notes.emplace_back("kernels of NCCL wait for other ranks: what they wait counts as communication");
    return notes;
}

}  // namespace

ProfilerComparison compare_profiler(const Scenario& s, Report prediction, const ProfilerRecord& profile) {
    if (profile.ranks && *profile.ranks != s.plan.devices())
        throw InputError(
            Diagnostic{profile.file, "/distributedInfo/world_size",
                       "is of a job of " + grouped_digits(*profile.ranks) + " ranks, and the plan has " + grouped_digits(s.plan.devices()),
                       "the scenario of that job: --set plan.dp=" + std::to_string(*profile.ranks)});
    ProfilerComparison c;
    c.prediction = std::move(prediction);
    c.file = profile.file;
    c.device = profile.device;
    c.rank = profile.rank;
    c.steps = step_times(profile.steps, 0);
    c.predicted_step = c.prediction.estimate.step;
    c.traced_step = profile.trace.end;
    c.predicted = c.prediction.estimate.terms;
    c.predicted_overlapped = c.prediction.estimate.overlapped;
    c.measured = terms_of(profile.trace, 0);
    c.measured_overlapped = overlapped_of(profile.trace, 0);
    c.kernels = kernels_of(profile.trace);
    const auto off = [&](Term t) { return std::fabs((c.measured[t] - c.predicted[t]).si()); };
    for (const Term t : all_terms)
        if (off(t) > off(c.largest)) c.largest = t;
    c.notes = notes_on(s, profile);
    return c;
}

std::vector<NamedQuantity> named_quantities(const ProfilerComparison& c) {
    const Seconds largest = c.measured[c.largest] - c.predicted[c.largest];
    std::vector<NamedQuantity> list = {{"step_time", c.steps.median},
                                       {"predicted_step_time", c.predicted_step},
                                       {"step_time_ratio", c.steps.median / c.predicted_step},
                                       {"largest_residual", max(largest, -largest)}};
    add_term_quantities(list, c.predicted, c.measured);
    return list;
}

}  // namespace sextant
