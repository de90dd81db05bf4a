#include "model/base/list_text.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/calibration/calibration_picture.hpp"
#include "model/io/calibration/calibration_writer.hpp"
#include "model/io/format/text_table.hpp"

namespace sextant {
namespace {

std::string parameters_text(const Calibration& c) {
    TextTable table;
    table.row({"", "", "prior", "measured", "uncertainty"});
    for (const CalibratedParameter& p : c.parameters) {
        const bool moved = p.is_measured();
        table.row({std::string(to_text(p.parameter.owner)), p.parameter.shown_name(), p.parameter.text(p.before),
                   moved ? p.parameter.text(p.value) : "no run depends on it",
                   moved ? percent_text(p.spread, 2) + (p.at_bound ? ", at the limit of its plausible range" : "") : ""});
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
                   to_text(r.predicted), signed_percent_text(off, 2), side_bar(off * 10, 8) + (r.left_out ? "  left out" : "")});
        before = r.probe;
    }
    return table.text();
}

std::string sure(double spread) { return percent_text(spread, 2); }

std::string off_by(Seconds predicted, Seconds measured) { return signed_percent_text(predicted / measured - 1, 2); }

// Two tables of a stamp; `before`, what the prior predicts of each term, where that is known.
std::string numbers_text(const CalibrationStamp& stamp) {
    TextTable table;
    table.row({"", "", "prior", "uncertainty", "fitted", "uncertainty"});
    for (const CalibratedNumber& n : stamp.numbers) table.row({n.owner, n.name, n.before, sure(n.spread_before), n.after, sure(n.spread)});
    return table.text();
}

std::string terms_text(const CalibrationStamp& stamp, const std::vector<Seconds>& before) {
    TextTable table;
    std::vector<std::string> head{"", "", "measured"};
    if (!before.empty()) head.insert(head.end(), {"prior", ""});
    head.insert(head.end(), {"predicted", "", "short|long, a # is 10 %"});
    table.row(head);
    std::string of;
    for (std::size_t i = 0; i < stamp.terms.size(); ++i) {
        const CalibratedTerm& t = stamp.terms[i];
        std::vector<std::string> row{t.of == of ? "" : t.of, t.size ? t.name : words(t.name), to_text(t.measured)};
        if (!before.empty()) row.insert(row.end(), {to_text(before[i]), off_by(before[i], t.measured)});
        row.insert(row.end(), {to_text(t.predicted), off_by(t.predicted, t.measured),
                               side_bar((t.predicted / t.measured - 1) * 10, 8) + (t.left_out ? "  left out" : "")});
        table.row(row);
        of = t.of;
    }
    return table.text();
}

std::string operators_text(const Calibration& c) {
    if (c.operators == 0) return "";
    return "  fitted to the times of " + std::to_string(c.operators) + " operators as well, median error " +
           percent_text(c.median_operator_error, 2) + "\n";
}

}  // namespace

std::string cluster_fit_to_text(const ClusterFit& fit) {
    const CalibrationStamp& stamp = *fit.cluster.calibration;
    std::string out = "Parameters that the measurements determine\n" + numbers_text(stamp);
    std::string silent;
    for (const NarrowedParameter& p : fit.parameters)
        if (!p.is_moved()) append_to_list(silent, p.parameter.shown_name(), "; ");
    if (!silent.empty()) out += "\n  unchanged: " + silent + "\n";
    for (const NarrowedParameter& p : fit.parameters)
        if (p.is_moved() && p.at_bound) out += "  at the limit of its plausible range: " + p.parameter.shown_name() + "\n";
    out += "\nMeasured and predicted\n" + terms_text(stamp, fit.predicted_before) + "\n  median error " +
           percent_text(fit.median_error_before, 2) + " with the prior, " + percent_text(fit.median_error, 2) + " fitted\n";
    constexpr double of_another_machine = 0.5;
    if (fit.median_error_before > of_another_machine)
        out +=
            "\nWARNING: the prior is not of such a machine: what was fitted may make up for something else that differs. Another --cluster "
            "is the way, or a profile with the links and adapters of this one\n";
    return out;
}

std::string stamp_to_text(const Cluster& cluster) {
    const CalibrationStamp& stamp = *cluster.calibration;
    return cluster.title + "\n" + stamp_line(stamp) + "\n\n" + numbers_text(stamp) + "\n" + terms_text(stamp, {});
}

std::string calibration_to_text(const Calibration& c) {
    const std::string others = c.others ? ", others took " + percent_text(*c.others, 2) + " of the cores" : "";
    return c.calibrated.cluster.title + "\n\nThe profile\n" + parameters_text(c) + "\nMeasured and predicted\n" + residuals_text(c) +
           "\n  median error " + percent_text(c.median_error, 2) + ", noise of a step " + percent_text(c.noise, 2) + others + "\n" +
           operators_text(c);
}

std::string training_fit_to_text(const TrainingFit& fit) {
    TextTable table;
    table.row({"", "", "", "fitted", "uncertainty", "runs"});
    for (const TrainedParameter& p : fit.parameters)
        table.row({std::string(to_text(p.parameter.owner)), p.of, words(p.parameter.name), p.parameter.text(p.value),
                   percent_text(p.spread, 2) + (p.at_bound ? ", at the limit of its range" : ""), std::to_string(p.runs)});
    return table.text() + "\n  mean error over the runs " + percent_text(fit.mean_error) + ", of memory " + percent_text(fit.memory_error) +
           "\n";
}

std::string library_fit_to_text(const LibraryFit& fit) {
    TextTable table;
    table.row({"library", "", "fitted", "uncertainty", "calls"});
    for (const LibraryParameter& p : fit.parameters)
        table.row({p.of, p.pointer, p.text, percent_text(p.spread, 2) + (p.at_bound ? ", at the limit of its range" : ""),
                   std::to_string(p.calls)});
    return table.text() + "\n  mean error over the calls " + percent_text(fit.mean_error) + "\n";
}

}  // namespace sextant
