#include "model/io/format/text_table.hpp"
#include "model/io/measurement/validation_writer.hpp"

#include "model/base/quantity_text.hpp"

#include <algorithm>

namespace sextant {
namespace {

constexpr std::size_t shown_rows = 12;  // at most, of those that grew worse and of those that grew better

std::string from_to(const std::string& before, const std::string& after) { return before == after ? after : before + " -> " + after; }

std::vector<std::string> error_cells(const ErrorStatistics& before, const ErrorStatistics& after) {
    return {from_to(percent_text(before.mape, 3), percent_text(after.mape, 3)), signed_percent_text(after.mape - before.mape),
            from_to(signed_percent_text(before.bias), signed_percent_text(after.bias))};
}

std::string series_text(const ValidationDiff& d) {
    TextTable table("  ", Align::right);
    table.row({"mean over files, held-out rows", "rows", "MAPE", "", "bias"});
    const std::vector<SeriesMean> before = d.before.unseen().series(), after = d.after.unseen().series();
    for (const SeriesMean& now : after) {
        const auto then = std::ranges::find(before, now.series, &SeriesMean::series);
        if (then == before.end()) continue;
        std::vector<std::string> line{now.series, std::to_string(now.rows)};
        std::ranges::move(
            error_cells({then->rows, then->mape, then->median_ape, then->bias, 0}, {now.rows, now.mape, now.median_ape, now.bias, 0}),
            std::back_inserter(line));
        table.row(std::move(line));
    }
    return table.text();
}

std::string file_text(const ValidationDiff& d) {
    TextTable table("  ", Align::right);
    table.row({"file", "changed", "worse", "better", "MAPE", "", "bias"});
    bool any = false;
    for (std::size_t i = 0; i < d.after.files.size(); ++i) {
        const std::string& file = d.after.files[i].file;
        const auto here = [&](auto also) {
            return std::to_string(std::ranges::count_if(d.moved, [&](const RowMove& m) { return m.file == file && also(m.worse_by()); }));
        };
        const std::string moved = here([](double) { return true; });
        if (moved == "0") continue;
        any = true;
        std::vector<std::string> line{file, moved, here([](double w) { return w > 0; }), here([](double w) { return w < 0; })};
        std::ranges::move(error_cells(summarize(d.before.files[i].results).step_time, summarize(d.after.files[i].results).step_time),
                          std::back_inserter(line));
        table.row(std::move(line));
    }
    return any ? "\n" + table.text() : "";
}

std::string shown_side(const std::optional<Seconds>& step, const std::optional<double>& error) {
    if (!step) return "refused";
    return to_text(*step) + (error ? " (" + signed_percent_text(*error) + ")" : "");
}

template <class Rows>
std::string rows_text(const std::string& title, const Rows& rows) {
    if (rows.empty()) return {};
    TextTable table("  ", Align::left);
    table.row({title, "measured", "before", "after"});
    for (const RowMove& m : rows)
        table.row({m.id, m.measured ? to_text(*m.measured) : "", shown_side(m.before, m.error_before), shown_side(m.after, m.error_after)});
    return "\n" + table.text();
}

}  // namespace

std::string validation_diff_text(const ValidationDiff& d, const ValidationView& view) {
    std::string out = d.moved.empty() ? "no prediction changed\n" : std::to_string(d.moved.size()) + " predictions changed\n";
    const auto refused = std::ranges::count_if(d.moved, [](const RowMove& m) { return m.refused_after && !m.refused_before; });
    const auto predicted = std::ranges::count_if(d.moved, [](const RowMove& m) { return m.refused_before && !m.refused_after; });
    if (refused > 0) out += std::to_string(refused) + " rows are newly refused: the means before and after cover different rows\n";
    if (predicted > 0) out += std::to_string(predicted) + " rows are newly predicted\n";
    if (d.only_before > 0) out += std::to_string(d.only_before) + " rows are no longer there\n";
    if (d.only_after > 0) out += std::to_string(d.only_after) + " rows are new\n";
    out += "\n" + series_text(d) + file_text(d);
    const std::size_t most = view.rows ? d.moved.size() : shown_rows;
    std::vector<RowMove> worse, better;
    for (const RowMove& m : d.moved)
        if (worse.size() < most && m.worse_by() > 0) worse.push_back(m);
    for (auto m = d.moved.rbegin(); m != d.moved.rend(); ++m)
        if (better.size() < most && m->worse_by() < 0) better.push_back(*m);
    return out + rows_text("worsened most", worse) + rows_text("improved most", better);
}

}  // namespace sextant
