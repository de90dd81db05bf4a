#include "model/report/validation_diff.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace sextant {
namespace {

constexpr double noise = 1e-6;  // relative: predictions that differ by less are the same

bool differ(const std::optional<Seconds>& a, const std::optional<Seconds>& b) {
    if (!a || !b) return a.has_value() != b.has_value();
    return std::fabs(*a / *b - 1) > noise;
}

RowMove move_of(const std::string& file, const RowResult& before, const RowResult& after) {
    return {file,
            after.id,
            after.counted,
            after.fitted,
            after.measured_step,
            before.predicted_step,
            after.predicted_step,
            before.step_error(),
            after.step_error(),
            before.refused,
            after.refused};
}

// The earlier prediction, with what is known of the row now.
RowResult as_then(const RowResult& then, const RowResult& now) {
    RowResult row = now;
    row.predicted_step = then.predicted_step;
    row.predicted_memory = then.predicted_memory;
    row.predicted_fits = then.predicted_fits;
    row.refused = then.refused;
    return row;
}

}  // namespace

double RowMove::worse_by() const { return error_before && error_after ? std::fabs(*error_after) - std::fabs(*error_before) : 0; }

ValidationDiff diff(const Validation& before, const Validation& after) {
    std::map<std::pair<std::string, std::string>, const RowResult*> known;
    for (const FileValidation& file : before.files)
        for (const RowResult& row : file.results) known[{file.file, row.id}] = &row;
    ValidationDiff d;
    d.only_before = static_cast<int>(known.size());
    for (const FileValidation& file : after.files) {
        FileValidation then{file.file, file.title, {}}, now = then;
        for (const RowResult& row : file.results) {
            const auto found = known.find({file.file, row.id});
            if (found == known.end()) {
                ++d.only_after;
                continue;
            }
            --d.only_before;
            then.results.push_back(as_then(*found->second, row));
            now.results.push_back(row);
            if (differ(then.results.back().predicted_step, row.predicted_step))
                d.moved.push_back(move_of(file.file, then.results.back(), row));
        }
        if (now.results.empty()) continue;
        d.before.files.push_back(std::move(then));
        d.after.files.push_back(std::move(now));
    }
    std::ranges::stable_sort(d.moved, std::ranges::greater{}, &RowMove::worse_by);
    return d;
}

}  // namespace sextant
