// Values in and out of a device, and the numbers that the fixtures were made from (fixtures/make_fixtures.py).
#pragma once

#include "backend/exec/device.hpp"

#include <span>
#include <vector>

namespace sextant {

enum class Made : std::uint64_t { input, weight, gradient, probe };

// In [-1, 1); integers below a bound. `index`: which of the kind.
std::vector<float> made_reals(Made, std::initializer_list<std::uint64_t> index, std::int64_t count);
std::vector<std::int64_t> made_integers(Made, std::uint64_t index, std::int64_t count, std::int64_t below);

Array to_device(ComputeDevice&, const std::vector<float>&);
Array to_device(ComputeDevice&, const std::vector<std::int64_t>&);
std::vector<float> from_device(ComputeDevice&, const Array&);

// The largest difference, over the largest element of `expected` (or one, if that is smaller).
double relative_error(std::span<const float> found, std::span<const float> expected);

}  // namespace sextant
