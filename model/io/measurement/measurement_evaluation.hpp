// One published row held against its prediction.
#pragma once

#include "model/io/measurement/measurement_scenario.hpp"
#include "model/report/validation.hpp"

#include <functional>

namespace sextant {

struct RowPrediction {
    Seconds step, low, high;         // and its 80 % interval
    std::optional<Bytes> memory;     // peak of a device
    std::optional<Bytes> allocated;  // and of what the framework's allocator hands out
    std::optional<bool> fits;
};

// What rows are predicted by. Each may throw InputError: the row is refused then, with its text.
struct Predictors {
    std::function<RowPrediction(const Scenario&)> training;
    std::function<Seconds(const CollectiveScenario&)> collective;  // one call
    std::function<Seconds(const LoadingRow&)> loading;             // one sample
};

// Throws InputError where a file that the row's words stand for is wrong.
RowResult evaluate(const MeasurementRow&, const MeasurementSources&, const Predictors&);

}  // namespace sextant
