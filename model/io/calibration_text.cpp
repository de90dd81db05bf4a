#include "model/base/quantity_text.hpp"
#include "model/io/calibration_writer.hpp"
#include "model/io/text_table.hpp"

namespace sextant {
namespace {

std::string parameters_text(const Calibration& c) {
    TextTable table;
    table.row({"", "", "guessed", "measured", "sure to"});
    for (const CalibratedParameter& p : c.parameters) {
        const bool moved = p.is_measured();
        table.row({std::string(to_text(p.parameter.owner)), p.parameter.name, p.parameter.text(p.before),
                   moved ? p.parameter.text(p.value) : "no run depends on it",
                   moved ? percent_text(p.spread, 2) + (p.at_bound ? ", at the end of what is plausible" : "") : ""});
    }
    return table.text();
}

std::string residuals_text(const Calibration& c) {
    TextTable table;
    table.row({"", "", "measured", "predicted", "", "short|long, a # is 10 %"});
    std::string before;
    for (const ProbeResidual& r : c.residuals) {
        const double off = r.predicted / r.measured - 1;
        table.row({r.probe == before ? "" : r.probe, r.whole_step ? "step" : words(to_text(r.term)), to_text(r.measured),
                   to_text(r.predicted), (off > 0 ? "+" : "") + percent_text(off, 2),
                   side_bar(off * 10, 8) + (r.weight < 0.05 ? "  left out" : "")});
        before = r.probe;
    }
    return table.text();
}

}  // namespace

std::string calibration_to_text(const Calibration& c) {
    return c.calibrated.cluster.title + "\n\nThe profile\n" + parameters_text(c) + "\nThe runs, as the profile predicts them\n" +
           residuals_text(c) + "\n  median error " + percent_text(c.median_error, 2) + ", noise of a step " + percent_text(c.noise, 2) +
           ", others took " + percent_text(c.others, 2) + " of the cores\n";
}

std::string training_fit_to_text(const TrainingFit& fit) {
    TextTable table;
    table.row({"", "", "", "fitted", "sure to", "runs"});
    for (const TrainedParameter& p : fit.parameters)
        table.row({std::string(to_text(p.parameter.owner)), p.of, words(p.parameter.name), p.parameter.text(p.value),
                   percent_text(p.spread, 2) + (p.at_bound ? ", at the end of what it can be" : ""), std::to_string(p.runs)});
    return table.text() + "\n  mean error over the runs " + percent_text(fit.mean_error) + ", of memory " + percent_text(fit.memory_error) +
           "\n";
}

std::string library_fit_to_text(const LibraryFit& fit) {
    TextTable table;
    table.row({"library", "", "fitted", "sure to", "calls"});
    for (const LibraryParameter& p : fit.parameters)
        table.row({p.of, p.pointer, p.text, percent_text(p.spread, 2) + (p.at_bound ? ", at the end of what was looked at" : ""),
                   std::to_string(p.calls)});
    return table.text() + "\n  mean error over the calls " + percent_text(fit.mean_error) + "\n";
}

}  // namespace sextant
