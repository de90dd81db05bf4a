#include "tests/backend/arrays.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant {

std::vector<float> made_reals(Made what, std::initializer_list<std::uint64_t> index, std::int64_t count) {
    RandomKey key(static_cast<std::uint64_t>(what));
    for (const std::uint64_t i : index) key = key.with(i);
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(2 * key.uniform(static_cast<std::uint64_t>(i)) - 1);
    return values;
}

std::vector<std::int64_t> made_integers(Made what, std::uint64_t index, std::int64_t count, std::int64_t below) {
    const RandomKey key = RandomKey(static_cast<std::uint64_t>(what)).with(index);
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < count; ++i)
        values.push_back(
            static_cast<std::int64_t>(static_cast<double>(key.uniform(static_cast<std::uint64_t>(i))) * static_cast<double>(below)));
    return values;
}

Array to_device(ComputeDevice& device, const std::vector<float>& values) {
    Array a = device.allocate(static_cast<std::int64_t>(values.size()));
    device.upload(values.data(), a);
    return a;
}

Array to_device(ComputeDevice& device, const std::vector<std::int64_t>& values) {
    Array a = device.allocate(static_cast<std::int64_t>(values.size()), Element::index);
    device.upload(values.data(), a);
    return a;
}

std::vector<float> from_device(ComputeDevice& device, const Array& a) {
    std::vector<float> values(static_cast<std::size_t>(a.elements));
    device.download(a, values.data());
    return values;
}

double relative_error(std::span<const float> found, std::span<const float> expected) {
    if (found.size() != expected.size()) return std::numeric_limits<double>::infinity();
    double largest = 1, difference = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
        const double d = std::abs(static_cast<double>(found[i]) - expected[i]);
        difference = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(difference, d);
    }
    return difference / largest;
}

}  // namespace sextant
