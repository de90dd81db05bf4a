#include "model/io/measurement/validation_writer.hpp"

#include "model/base/quantity_text.hpp"
#include "model/io/format/text_table.hpp"
#include "model/report/plan_ranking.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace sextant {
namespace {

using Line = std::vector<std::string>;

// A table whose first column is text and whose others are numbers.
struct Table {
    Line head;
    std::vector<Line> lines;
};

// Without columns in which nothing stands.
std::string as_text(const Table& table) {
    const auto is_empty = [&](std::size_t i) { return std::ranges::all_of(table.lines, [i](const Line& l) { return l[i].empty(); }); };
    std::vector<Align> columns(table.head.size(), Align::right);
    columns.front() = Align::left;
    TextTable text("", std::move(columns));
    const auto write = [&](const Line& line) {
        Line cells;
        for (std::size_t i = 0; i < line.size(); ++i)
            if (!is_empty(i)) cells.push_back(line[i]);
        text.row(std::move(cells));
    };
    write(table.head);
    std::ranges::for_each(table.lines, write);
    return text.text() + '\n';
}

std::string as_markdown(const Table& table) {
    std::string out;
    const auto write = [&](const Line& line) {
        for (const std::string& cell : line) out += "| " + cell + " ";
        out += "|\n";
    };
    write(table.head);
    for (std::size_t i = 0; i < table.head.size(); ++i) out += i == 0 ? "|---" : "|---:";
    out += "|\n";
    std::ranges::for_each(table.lines, write);
    return out + '\n';
}

void add_errors(const ErrorStatistics& s, Line& line) {
    if (s.rows == 0)
        line.insert(line.end(), 4, "");
    else
        line.insert(line.end(), {percent_text(s.mape), percent_text(s.median_ape), signed_percent_text(s.bias), percent_text(s.max_ape)});
}

std::string rate_text(const Rate& r) { return r.of == 0 ? "" : std::to_string(r.right) + " of " + std::to_string(r.of); }

Line summary_line(std::string name, const Summary& s) {
    Line line{std::move(name), std::to_string(s.rows), std::to_string(s.counted), std::to_string(s.predicted), std::to_string(s.refused)};
    add_errors(s.step_time, line);
    line.push_back(s.memory.rows == 0 ? "" : percent_text(s.memory.mape));
    line.push_back(s.memory.rows == 0 ? "" : signed_percent_text(s.memory.bias));
    line.push_back(rate_text(s.ran));
    line.push_back(rate_text(s.failed));
    return line;
}

Line summary_head(std::string name) {
    return {std::move(name),
            "rows",
            "counted",
            "predicted",
            "refused",
            "MAPE",
            "median",
            "bias",
            "max",
            "memory MAPE",
            "memory bias",
            "ran, predicted to fit",
            "OOM, predicted OOM"};
}

Table file_table(const Validation& v) {
    Table table{summary_head("file"), {}};
    for (const FileValidation& f : v.files) table.lines.push_back(summary_line(f.file, summarize(f.results)));
    table.lines.push_back(summary_line("total (counted rows)", v.total()));
    return table;
}

Table series_table(const Validation& v) {
    Table table{{"mean over files, held-out rows", "files", "rows", "MAPE", "median", "bias", "in the 80 % interval"}, {}};
    for (const SeriesMean& m : v.series())
        table.lines.push_back({m.series, std::to_string(m.files), std::to_string(m.rows), percent_text(m.mape), percent_text(m.median_ape),
                               signed_percent_text(m.bias), m.inside ? percent_text(*m.inside, 2) : ""});
    return table;
}

Table ranking_table(const PlanRanking& r) {
    return {{"choice among a job's plans, held-out rows", "jobs", "rank correlation", "regret", "max regret", "regret within 5 %"},
            {{"median", std::to_string(r.jobs), number_text(r.rank_correlation, 2), percent_text(r.loss), percent_text(r.most_loss),
              std::to_string(r.well_chosen) + " of " + std::to_string(r.jobs)}}};
}

// What the parameters were fitted to beside what was held out.
Table unseen_table(const Validation& v) {
    Table table{{"step time", "fitted rows", "MAPE", "bias", "held-out rows", "MAPE", "median", "bias", "max"}, {}};
    const auto add = [&](const std::string& name, const std::vector<RowResult>& results) {
        std::vector<RowResult> fitted, unseen;
        for (const RowResult& r : results)
            if (r.counted && r.step_error()) (r.fitted ? fitted : unseen).push_back(r);
        if (fitted.empty() && unseen.empty()) return;
        Line line{name, std::to_string(fitted.size())};
        const ErrorStatistics f = summarize(fitted).step_time;
        line.push_back(f.rows == 0 ? "" : percent_text(f.mape));
        line.push_back(f.rows == 0 ? "" : signed_percent_text(f.bias));
        line.push_back(std::to_string(unseen.size()));
        add_errors(summarize(unseen).step_time, line);
        table.lines.push_back(std::move(line));
    };
    for (const FileValidation& f : v.files) add(f.file, f.results);
    return table;
}

Table group_table(const Validation& v, const std::string& label) {
    Table table{summary_head(label), {}};
    for (const auto& [name, summary] : v.grouped_by(label)) table.lines.push_back(summary_line(name, summary));
    return table;
}

Table refusal_table(const Summary& total) {
    Table table{{"refused because", "rows"}, {}};
    for (const auto& [why, rows] : total.reasons) table.lines.push_back({why, std::to_string(rows)});
    return table;
}

Table row_table(const FileValidation& f) {
    Table table{{f.file, "counted", "measured", "predicted", "error", "memory measured", "predicted", "fits"}, {}};
    for (const RowResult& r : f.results) {
        Line line{r.id, r.counted ? "yes" : "no", r.measured_step ? to_text(*r.measured_step) : ""};
        line.push_back(r.refused ? "refused: " + *r.refused : r.predicted_step ? to_text(*r.predicted_step) : "");
        line.push_back(r.step_error() ? signed_percent_text(*r.step_error()) : "");
        line.push_back(r.measured_memory ? to_text(*r.measured_memory) : "");
        line.push_back(r.predicted_memory ? to_text(*r.predicted_memory) : "");
        line.push_back(!r.predicted_fits ? "" : *r.predicted_fits ? "yes" : "no");
        table.lines.push_back(std::move(line));
    }
    return table;
}

// What the tables are about; in a terminal somebody has just asked for them. What was fitted, and to what, is said in docs/validation.md.
constexpr std::string_view introduction = R"(# Validation

Each row of the measurements (a training step, its peak of memory, or one call of a collective) is predicted from what its source says about the
machine, the workload and the plan, and compared with what was measured.

An error is predicted / measured - 1. MAPE is the mean of its absolute value, median the median of that, bias the mean with its sign and max the
largest absolute value. Only counted rows enter: those that are complete and not suspect. "Mean over files" weighs every file the same. No
parameter was fitted to held-out rows.

)";

std::string render(const Validation& v, const ValidationView& view, std::string (&as)(const Table&)) {
    const Validation unseen = v.unseen();
    std::string out = as(file_table(v)) + as(unseen_table(v)) + as(series_table(unseen));
    if (const PlanRanking ranking = rank_plans(unseen); ranking.jobs > 0) out += as(ranking_table(ranking));
    if (!view.group_by.empty()) out += as(group_table(v, view.group_by));
    if (const Summary total = v.total(); !total.reasons.empty()) out += as(refusal_table(total));
    if (view.rows)
        for (const FileValidation& f : v.files) out += as(row_table(f));
    out.pop_back();  // the last table ends the text
    return out;
}

}  // namespace

std::string validation_text(const Validation& v, const ValidationView& view) { return render(v, view, as_text); }
std::string validation_markdown(const Validation& v, const ValidationView& view) {
    return std::string(introduction) + render(v, view, as_markdown);
}

}  // namespace sextant
