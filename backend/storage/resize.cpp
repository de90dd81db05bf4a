#include "backend/storage/codec.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// What each place of the result takes from where: of[k] of place first + k, all of them one behind the other.
struct Weights {
    struct Place {
        std::int64_t first = 0;
        std::size_t begin = 0, count = 0;
    };
    std::vector<Place> places;
    std::vector<float> of;
};

Weights weights(std::int64_t from, std::int64_t to) {
    const double scale = static_cast<double>(from) / static_cast<double>(to), reach = std::max(1.0, scale);
    Weights all;
    all.places.reserve(static_cast<std::size_t>(to));
    all.of.reserve(static_cast<std::size_t>(static_cast<double>(to) * (2 * reach + 2)));
    for (std::int64_t i = 0; i < to; ++i) {
        const double centre = (static_cast<double>(i) + 0.5) * scale;
        const auto first = std::max<std::int64_t>(0, std::lround(centre - reach));
        const auto end = std::min(from, std::max<std::int64_t>(first + 1, std::lround(centre + reach)));
        const std::size_t begin = all.of.size();
        double sum = 0;
        for (std::int64_t j = first; j < end; ++j) {
            const double weight = std::max(0.0, 1 - std::fabs(static_cast<double>(j) + 0.5 - centre) / reach);
            all.of.push_back(static_cast<float>(weight));
            sum += weight;
        }
        for (std::size_t k = begin; k < all.of.size(); ++k) all.of[k] /= static_cast<float>(sum);
        all.places.push_back({first, begin, all.of.size() - begin});
    }
    return all;
}

}  // namespace

ByteArray resize(const ByteArray& image, std::int64_t height, std::int64_t width) {
    const std::int64_t channels = image.extents[2], from_height = image.extents[0], from_width = image.extents[1];
    const auto at = [&](std::int64_t row, std::int64_t columns, std::int64_t column, std::int64_t channel) {
        return static_cast<std::size_t>((row * columns + column) * channels + channel);
    };
    std::vector<float> narrow(static_cast<std::size_t>(from_height * width * channels));
    const Weights across = weights(from_width, width), down = weights(from_height, height);
    for (std::int64_t y = 0; y < from_height; ++y)
        for (std::int64_t x = 0; x < width; ++x) {
            const Weights::Place& p = across.places[static_cast<std::size_t>(x)];
            for (std::size_t k = 0; k < p.count; ++k)
                for (std::int64_t c = 0; c < channels; ++c)
                    narrow[at(y, width, x, c)] +=
                        across.of[p.begin + k] *
                        static_cast<float>(image.values[at(y, from_width, p.first + static_cast<std::int64_t>(k), c)]);
        }
    ByteArray result{{height, width, channels}, Blob(static_cast<std::size_t>(height * width * channels))};
    const auto row = static_cast<std::size_t>(width * channels);
    std::vector<float> sums(row);
    for (std::int64_t y = 0; y < height; ++y) {
        const Weights::Place& p = down.places[static_cast<std::size_t>(y)];
        std::ranges::fill(sums, 0.5F);  // rounds
        for (std::size_t k = 0; k < p.count; ++k) {
            const float* from = narrow.data() + (static_cast<std::size_t>(p.first) + k) * row;
            for (std::size_t i = 0; i < row; ++i) sums[i] += down.of[p.begin + k] * from[i];
        }
        for (std::size_t i = 0; i < row; ++i)
            result.values[static_cast<std::size_t>(y) * row + i] = static_cast<std::uint8_t>(std::clamp(sums[i], 0.0F, 255.0F));
    }
    return result;
}

}  // namespace sextant
