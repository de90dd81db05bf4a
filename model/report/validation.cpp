#include "model/report/validation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant {
namespace {

template <class Q>
std::optional<double> relative_error(const std::optional<Q>& measured, const std::optional<Q>& predicted) {
    if (!measured || !predicted || *measured <= Q{}) return std::nullopt;
    return (*predicted - *measured) / *measured;
}

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void count_fit(const RowResult& r, Summary& summary) {
    if (!r.measured_fits || !r.predicted_fits) return;
    Rate& rate = *r.measured_fits ? summary.ran : summary.failed;
    rate += *r.measured_fits == *r.predicted_fits;
}

std::vector<RowResult> counted_rows(const std::vector<FileValidation>& files) {
    std::vector<RowResult> rows;
    for (const FileValidation& file : files) std::ranges::copy_if(file.results, std::back_inserter(rows), &RowResult::counted);
    return rows;
}

}  // namespace

std::optional<double> RowResult::step_error() const { return relative_error(measured_step, predicted_step); }
std::optional<double> RowResult::memory_error() const { return relative_error(measured_memory, predicted_memory); }
std::optional<double> RowResult::utilization_error() const { return relative_error(measured_utilization, predicted_utilization); }

bool RowResult::inside() const {
    return interval && measured_step && *measured_step >= interval->first && *measured_step <= interval->second;
}

double median_of(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

ErrorStatistics statistics_of(std::vector<double> errors) {
    ErrorStatistics s;
    if (errors.empty()) return s;
    s.rows = static_cast<int>(errors.size());
    s.bias = mean(errors);
    for (double& e : errors) e = std::fabs(e);
    s.mape = mean(errors);
    s.max_ape = std::ranges::max(errors);
    s.median_ape = median_of(std::move(errors));
    return s;
}

Summary summarize(std::span<const RowResult> results) {
    Summary summary;
    std::vector<double> step_errors, memory_errors;
    for (const RowResult& r : results) {
        ++summary.rows;
        ++(r.refused ? summary.refused : summary.predicted);
        if (r.refused) ++summary.reasons[*r.refused];
        if (!r.counted) continue;
        ++summary.counted;
        if (const auto e = r.step_error()) step_errors.push_back(*e);
        if (const auto e = r.memory_error()) memory_errors.push_back(*e);
        count_fit(r, summary);
    }
    summary.step_time = statistics_of(std::move(step_errors));
    summary.memory = statistics_of(std::move(memory_errors));
    return summary;
}

Validation Validation::unseen() const {
    Validation rest = *this;
    for (FileValidation& file : rest.files) std::erase_if(file.results, &RowResult::fitted);
    std::erase_if(rest.files, [](const FileValidation& file) { return file.results.empty(); });
    return rest;
}

Summary Validation::total() const { return summarize(counted_rows(files)); }

std::vector<SeriesMean> Validation::series() const {
    std::map<std::string, SeriesMean> by_name;
    for (const FileValidation& file : files) {
        std::map<std::string, std::vector<double>> errors;
        std::map<std::string, Rate> inside;
        for (const RowResult& r : file.results) {
            if (!r.counted) continue;
            if (const auto e = r.step_error()) {
                errors[r.series].push_back(*e);
                if (r.interval) inside[r.series] += r.inside();
            }
            if (const auto e = r.memory_error()) errors["memory"].push_back(*e);
            if (const auto e = r.utilization_error()) errors["loading: utilization"].push_back(*e);
        }
        for (auto& [name, of_file] : errors) {
            const ErrorStatistics s = statistics_of(std::move(of_file));
            SeriesMean& m = by_name[name];
            ++m.files;
            m.rows += s.rows;
            m.mape += s.mape;
            m.median_ape += s.median_ape;
            m.bias += s.bias;
            if (const auto rate = inside.find(name); rate != inside.end())
                m.inside = m.inside.value_or(0) + static_cast<double>(rate->second.right) / rate->second.of;
        }
    }
    std::vector<SeriesMean> means;
    for (auto& [name, m] : by_name) {
        m.series = name;
        m.mape /= m.files;
        m.median_ape /= m.files;
        m.bias /= m.files;
        if (m.inside) *m.inside /= m.files;
        means.push_back(std::move(m));
    }
    return means;
}

std::map<std::string, Summary> Validation::grouped_by(const std::string& label) const {
    std::map<std::string, std::vector<RowResult>> groups;
    for (RowResult& r : counted_rows(files)) {
        const auto found = r.labels.find(label);
        const std::string name = found == r.labels.end() || found->second.empty() ? "not stated" : found->second;
        groups[name].push_back(std::move(r));
    }
    std::map<std::string, Summary> summaries;
    for (const auto& [name, rows] : groups) summaries[name] = summarize(rows);
    return summaries;
}

}  // namespace sextant
