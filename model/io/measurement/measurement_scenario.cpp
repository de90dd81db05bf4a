#include "model/io/measurement/measurement_scenario.hpp"

#include "model/plan/framework_defaults.hpp"

#include <algorithm>

namespace sextant {

std::optional<Seconds> measured_step(const TrainingRow& row, const Scenario& s) {
    if (row.step_time) return row.step_time;
    const auto samples = static_cast<double>(s.plan.global_batch);
    if (row.samples_per_second) return samples / *row.samples_per_second;
    const auto* t = s.workload.transformer();
    if (row.tokens_per_second && t != nullptr) return samples * static_cast<double>(t->seq_len) / *row.tokens_per_second;
    return std::nullopt;
}

bool is_of_row(const InputError& error, const RowHeader& header) {
    return std::ranges::all_of(error.diagnostics(), [&](const Diagnostic& d) { return d.file.empty() || d.file == header.file; });
}

Scenario to_scenario(const TrainingRow& row, const MeasurementSources& sources) {
    RowReport report(row.header);
    Scenario scenario;
    scenario.name = row.header.id;
    scenario.description = row.header.source_ref;
    scenario.file = row.header.file;
    scenario.cluster = cluster_of(row.hardware, sources, report);
    scenario.workload = workload_of(row, sources, report);
    scenario.plan = plan_of(row, scenario.cluster, scenario.workload, report);

    const std::string name = framework_name(row, report);
    if (auto framework = sources.framework(name))
        scenario.framework = std::move(*framework);
    else
        report.complain("/plan/framework", "framework description \"" + name + "\" is missing");
    scenario.plan.head_chunks = std::max(scenario.plan.head_chunks, scenario.framework.head_chunks);
    set_habits_of_one_run(row.plan, scenario.framework);
    const std::string& usual = scenario.framework.library;
    const std::string library = library_on(scenario.cluster.node.device, usual.empty() ? "nccl-2" : usual);
    if (auto found = sources.library(library))
        scenario.library = std::move(*found);
    else
        report.complain("/plan/framework", "communication library \"" + library + "\" is not in the catalog");

    if (!row.input.empty() && row.input != "synthetic") report.assume("real data (" + row.input + "): the input pipeline keeps up");
    report.diagnostics().throw_if_any();
    scenario.assumptions = std::move(report.assumptions());
    return scenario;
}

}  // namespace sextant
