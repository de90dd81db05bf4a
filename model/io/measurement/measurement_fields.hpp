// What the readers of the kinds of rows share. Internal to measurement_reader.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/io/measurement/measurement_reader.hpp"

#include <utility>

namespace sextant {

inline constexpr Bounds large_counts{0, 1e15};
inline constexpr Bounds rank_counts{1, 1e7};

// More sources bring more fields: keys that nobody asks for are passed over.
struct RowFields : ObjectReader {
    explicit RowFields(JsonNode node) : ObjectReader(std::move(node)) { ignore_others(); }
};

void read_hardware(RowFields&, MeasuredHardware&);
TrainingRow read_training(RowFields&, RowHeader);
LoadingRow read_loading(RowFields&, RowHeader);

// The workloads that a source of loading rows defines, to every row that names one.
void define_workloads(RowFields& source, std::vector<MeasurementRow>&);
// Which loading rows have the most accelerators of their system.
void compare_accelerators(std::vector<MeasurementRow>&);

}  // namespace sextant
