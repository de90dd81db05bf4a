#include "model/io/measurement/measurement_evaluation.hpp"

#include "model/base/list_text.hpp"

namespace sextant {
namespace {

using namespace units;

// Smaller messages measure the latency of a library, larger ones the machine; they are averaged apart.
constexpr Bytes small_message = 64 * KiB;

std::string text_of(const InputError& error) {
    const auto text = [](const Diagnostic& d) { return d.what + (d.hint.empty() ? "" : " (" + d.hint + ")"); };
    return joined(error.diagnostics(), text, "; ");
}

// All but the plan.
std::string job_of(const TrainingRow& row, const Scenario& scenario) {
    const MeasuredModel& m = row.model;
    std::string job =
        m.name + ", " + row.hardware.gpu + ", " + row.hardware.system + ", " + scenario.framework.name + ", " + row.plan.precision_kind;
    for (const std::optional<std::int64_t>& size : {m.layers, m.hidden, m.ffn_hidden, m.heads, m.kv_heads, m.vocab, m.seq_len, m.experts,
                                                    std::optional<std::int64_t>(row.hardware.gpus), row.plan.global_batch})
        job += ", " + (size ? std::to_string(*size) : "-");
    return job;
}

void predict(const TrainingRow& row, const MeasurementSources& sources, const Predictors& predictors, RowResult& result) {
    result.series = row.model.family != "cnn" ? "transformer" : row.hardware.gpus == 1 ? "vision, one GPU" : "vision, several GPUs";
    result.labels = {{"gpu", row.hardware.gpu},
                     {"framework", row.plan.framework_family},
                     {"model", row.model.name.empty() ? row.model.family : row.model.name},
                     {"precision", row.plan.precision_kind},
                     {"gpus", std::to_string(row.hardware.gpus)}};
    result.extent = row.hardware.gpus;
    result.measured_memory = row.memory;
    result.measured_fits = row.fits;
    result.measured_step = row.step_time;  // of a row that is refused, too
    const Scenario scenario = to_scenario(row, sources);
    result.measured_step = measured_step(row, scenario);
    if (!row.fits && result.measured_step) result.measured_fits = true;
    result.assumptions = scenario.assumptions;
    result.labels["framework"] = scenario.framework.name;
    if (result.series == "transformer") result.job = job_of(row, scenario);
    const RowPrediction p = predictors.training(scenario);
    result.predicted_step = p.step;
    result.interval = {p.low, p.high};
    result.predicted_memory = row.memory_is_allocated ? p.allocated : p.memory;
    result.predicted_fits = p.fits;
}

void predict(const CollectiveRow& row, const MeasurementSources& sources, const Predictors& predictors, RowResult& result) {
    result.series = row.message > small_message ? "collectives above 64 KiB" : "collectives up to 64 KiB";
    result.labels = {{"gpu", row.hardware.gpu},
                     {"framework", row.library},
                     {"collective", row.collective},
                     {"ranks", std::to_string(row.ranks)},
                     {"system", row.hardware.system}};
    result.extent = row.message / B;
    result.measured_step = measured_time(row);
    const CollectiveScenario scenario = to_scenario(row, sources);
    result.assumptions = scenario.cluster.assumptions;
    result.predicted_step = predictors.collective(scenario);
}

void predict(const LoadingRow& row, const MeasurementSources&, const Predictors& predictors, RowResult& result) {
    result.series = "loading";
    result.labels = {{"workload", row.workload}, {"submitter", row.submitter}};
    result.extent = row.accelerators;
    if (row.samples_per_second) result.measured_step = 1.0 / *row.samples_per_second;
    result.predicted_step = predictors.loading(row);
    result.measured_utilization = row.accelerator_utilization;
    if (row.training) {  // the part of the time between two batches of an accelerator that it computes
        const double samples = static_cast<double>(row.training->batch) * row.accelerators;
        result.predicted_utilization = row.training->computation / (samples * *result.predicted_step);
    }
}

void predict(const UnreadRow& row, const MeasurementSources&, const Predictors&, RowResult&) {
    std::vector<Diagnostic> problems = row.problems;
    for (Diagnostic& d : problems)
        if (d.pointer.size() > row.header.pointer.size()) d.what = d.pointer.substr(row.header.pointer.size() + 1) + ": " + d.what;
    throw InputError(std::move(problems));
}

}  // namespace

RowResult evaluate(const MeasurementRow& row, const MeasurementSources& sources, const Predictors& predictors) {
    RowResult result;
    result.id = header_of(row).id;
    result.counted = header_of(row).counted();
    try {
        std::visit([&](const auto& r) { predict(r, sources, predictors, result); }, row);
    } catch (const InputError& error) {
        if (!is_of_row(error, header_of(row))) throw;
        result.refused = text_of(error);
    }
    return result;
}

}  // namespace sextant
