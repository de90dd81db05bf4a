#include "backend/exec/place.hpp"

#include "model/base/ceil_divide.hpp"

namespace sextant {

std::int64_t part_offset(std::int64_t part, std::int64_t whole, TensorCut cut) {
    const std::int64_t pieces = ceil_divide(whole, part);
    return cut.rank * pieces / cut.ranks * part;
}

Place place_of(const Tensor& part, const Tensor& whole, const BlockCut& cut, std::int64_t samples) {
    Tensor group = whole;
    const bool scores = whole.shape.size() > 2;
    if (cut.context.ranks > 1) group.shape[scores ? 1 : 0] /= cut.context.ranks;
    const auto elements = static_cast<std::int64_t>(part.elements()), all = static_cast<std::int64_t>(group.elements());
    const std::int64_t sequences = scores ? group.shape[0] : samples;
    Place place{.run = elements,
                .stride = all,
                .offset = 0,
                .per_sample = all * cut.context.ranks / samples,
                .context = cut.context,
                .sequence = all / sequences};
    if (part.shape.size() > 1 && part.shape[1] < group.shape[1]) {
        place.run = part.shape[1];
        place.stride = group.shape[1];
    } else if (part.shape.size() > 2 && part.shape[0] < group.shape[0]) {
        place.run = elements / samples;
        place.stride = all / samples;
    }
    place.offset = part_offset(place.run, place.stride, cut.tensor);
    return place;
}

}  // namespace sextant
