#include "backend/exec/reals.hpp"

namespace sextant {

Array uploaded(ComputeDevice& device, std::span<const float> values, Element element) {
    Array wide = device.allocate(static_cast<std::int64_t>(values.size()), Element::real);
    device.upload(values.data(), wide);
    if (element == Element::real) return wide;
    Array rounded = device.allocate(wide.elements, element);
    device.copy(wide, rounded);
    return rounded;
}

std::vector<float> downloaded(ComputeDevice& device, const Array& from) {
    Array wide = from;
    if (from.element != Element::real) {
        wide = device.allocate(from.elements, Element::real);
        device.copy(from, wide);
    }
    std::vector<float> values(static_cast<std::size_t>(from.elements));
    device.download(wide, values.data());
    return values;
}

}  // namespace sextant
