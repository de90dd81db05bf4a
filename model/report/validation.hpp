// How far predictions are off from published measurements: pure statistics over results, row by row.
//
// The error of a row is |predicted - measured| / measured (its absolute percentage error, as a fraction); the bias is the mean of the
// same with its sign, positive when predictions are too slow or too large. Only rows that are complete and not suspect are scored.
#pragma once

#include "model/base/quantity.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sextant {

struct RowResult {
    std::string id;
    bool counted = true;                        // complete and not suspect
    bool fitted = false;                        // parameters were fitted to it: it does not judge
    std::string series;                         // what it is averaged with: "transformer", "vision, one GPU" ...
    std::string job;                            // rows of one name do the same work on the same machine by other plans; may be empty
    std::map<std::string, std::string> labels;  // to group by: "gpu", "framework" ...
    std::optional<double> extent;               // how large it is: devices of a job, bytes of a message
    std::optional<Seconds> measured_step, predicted_step;
    std::optional<std::pair<Seconds, Seconds>> interval;  // of the prediction, 80 %
    std::optional<Bytes> measured_memory, predicted_memory;
    std::optional<double> measured_utilization, predicted_utilization;  // of the accelerators that a loader feeds
    std::optional<bool> measured_fits;                                  // true: the run went through; false: it ran out of memory
    std::optional<bool> predicted_fits;
    std::optional<std::string> refused;  // why there is no prediction
    std::vector<std::string> assumptions;

    [[nodiscard]] std::optional<double> step_error() const;  // signed, relative
    [[nodiscard]] std::optional<double> memory_error() const;
    [[nodiscard]] std::optional<double> utilization_error() const;
    [[nodiscard]] bool inside() const;  // a step measured within the interval
};

struct ErrorStatistics {
    int rows = 0;  // that have both a measurement and a prediction; the rest means nothing when 0
    double mape = 0, median_ape = 0, bias = 0, max_ape = 0;
};
ErrorStatistics statistics_of(std::vector<double> signed_errors);
double median_of(std::vector<double> values);  // between the two in the middle; there must be some

// How often the answer to a yes-or-no question was right.
struct Rate {
    int right = 0, of = 0;

    Rate& operator+=(bool is_right) {
        ++of;
        right += is_right ? 1 : 0;
        return *this;
    }
};

struct Summary {
    int rows = 0, counted = 0, predicted = 0, refused = 0;
    ErrorStatistics step_time, memory;   // of the counted rows
    Rate ran;                            // counted rows that ran: predicted to fit
    Rate failed;                         // counted rows that ran out of memory: predicted not to fit
    std::map<std::string, int> reasons;  // of refusals
};
// Rows, predicted and refused are those of all rows of a file.
Summary summarize(std::span<const RowResult>);

struct FileValidation {
    std::string file, title;
    std::vector<RowResult> results;
};

// The mean of the files' errors, each file weighing the same however many rows it has.
struct SeriesMean {
    std::string series;
    int files = 0, rows = 0;
    double mape = 0, median_ape = 0, bias = 0;
    std::optional<double> inside;  // fraction of the rows that lie inside the 80 % interval of their predictions, where these have one
};

struct Validation {
    std::vector<FileValidation> files;

    // Counts only rows that are complete and not suspect, in rows, predicted and refused too.
    [[nodiscard]] Summary total() const;
    [[nodiscard]] std::vector<SeriesMean> series() const;  // of step times, "memory" and "loading: utilization"; by name
    // The rows that nothing was fitted to.
    [[nodiscard]] Validation unseen() const;
    // Counted rows by what they have under `label`; rows without it under "not stated".
    [[nodiscard]] std::map<std::string, Summary> grouped_by(const std::string& label) const;
};

}  // namespace sextant
