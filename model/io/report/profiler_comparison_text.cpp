#include "model/io/report/comparison_cells.hpp"
#include "model/io/report/profiler_comparison_writer.hpp"
#include "model/report/worth_telling.hpp"

#include <algorithm>

namespace sextant {
namespace {

constexpr std::size_t most_kernels = 10, widest_name = 80;
constexpr double nothing = 1e-6;  // of a step

std::string header_text(const ProfilerComparison& c) {
    TextTable table;
    table.row({"profile", c.file + ": rank " + std::to_string(c.rank) + (c.device.empty() ? "" : ", " + c.device)});
    table.row({"plan", c.prediction.plan});
    table.row({"hardware", c.prediction.hardware});
    table.row({"steps", std::to_string(c.steps.count) + ", " + to_text(c.steps.fastest) + " to " + to_text(c.steps.slowest)});
    table.row({"80 % interval", interval_text(c.prediction, c.steps.median)});
    return table.text();
}

std::string terms_text(const ProfilerComparison& c) {
    Seconds full;
    for (const Term t : all_terms) {
        const Seconds off = c.measured[t] - c.predicted[t];
        full = max(full, max(off, -off));
    }
    TextTable table("  ", Align::right);
    table.row({"", "predicted", "measured", "ratio", bar_header(full)});
    table.row({"step time", to_text(c.predicted_step), to_text(c.steps.median),
               ratio_text(ratio(c.steps.median.si(), c.predicted_step.si())), ""});
    const auto row = [&](const std::string& name, Seconds predicted, Seconds measured, const std::string& last, double least) {
        if (max(predicted, measured) / c.traced_step < least) return;
        if (predicted / c.traced_step < nothing) predicted = {};
        table.row({name, or_nothing(predicted), or_nothing(measured), ratio_text(ratio(measured.si(), predicted.si())), last});
    };
    for (const Term t : all_terms) {
        row(words(to_text(t)), c.predicted[t], c.measured[t], difference_bar(c.measured[t] - c.predicted[t], full), worth_telling);
    }
    row("sum", c.predicted.total(), c.measured.total(), "", 0);
    for (const Term t : all_terms) {
        row("hidden " + words(to_text(t)), c.predicted_overlapped[t], c.measured_overlapped[t], "", worth_telling_hidden);
    }
    return "\nWhere the time goes (measured in the step of median time)\n" + table.text();
}

std::string kernels_text(const ProfilerComparison& c) {
    TextTable table("  ", {Align::right, Align::right, Align::right, Align::left, Align::left});
    table.row({"time", "of the step", "calls", "in", "kernel"});
    for (std::size_t i = 0; i < std::min(most_kernels, c.kernels.size()); ++i) {
        const KernelTime& k = c.kernels[i];
        const std::string name = k.name.size() <= widest_name ? k.name : k.name.substr(0, widest_name) + "...";
        table.row({to_text(k.time), percent_text(k.time / c.traced_step), std::to_string(k.calls), words(to_text(k.kind)), name});
    }
    return c.kernels.empty() ? "" : "\nThe longest kernels\n" + table.text();
}

}  // namespace

std::string profiler_comparison_to_text(const ProfilerComparison& c) {
    const Seconds off = c.measured[c.largest] - c.predicted[c.largest];
    std::string text = c.prediction.scenario + ": prediction beside a profile\n" + header_text(c) + terms_text(c) + kernels_text(c) +
                       "\nWhere they part: " + words(to_text(c.largest)) + " takes " + to_text(max(off, -off)) +
                       (off < Seconds{} ? " less" : " more") + " than predicted\n";
    for (const std::string& note : c.notes) text += "  note: " + note + "\n";
    return text;
}

}  // namespace sextant
