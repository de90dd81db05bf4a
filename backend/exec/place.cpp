#include "backend/exec/place.hpp"

namespace sextant {

std::int64_t part_offset(std::int64_t part, std::int64_t whole, TensorCut cut) {
    const std::int64_t pieces = (whole + part - 1) / part;
    return cut.rank * pieces / cut.ranks * part;
}

Place place_of(const Tensor& part, const Tensor& whole, TensorCut cut, std::int64_t samples) {
    const auto elements = static_cast<std::int64_t>(part.elements()), all = static_cast<std::int64_t>(whole.elements());
    Place place{.run = elements, .stride = all, .offset = 0, .per_sample = all / samples};
    if (part.shape.size() > 1 && part.shape[1] < whole.shape[1]) {
        place.run = part.shape[1];
        place.stride = whole.shape[1];
    } else if (part.shape.size() > 2 && part.shape[0] < whole.shape[0]) {
        place.run = elements / samples;
        place.stride = all / samples;
    }
    place.offset = part_offset(place.run, place.stride, cut);
    return place;
}

}  // namespace sextant
