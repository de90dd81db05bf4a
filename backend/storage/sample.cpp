#include "backend/storage/sample.hpp"

#include "model/base/enum_names.hpp"
#include "model/base/list_text.hpp"

#include <algorithm>
#include <charconv>

namespace sextant {

std::optional<SampleEncoding> encoding_named(std::string_view name) { return enumerator_named(name, all_sample_encodings); }

std::string_view suffix_of(SampleEncoding e) {
    static constexpr std::string_view suffixes[] = {"npy", "png", "jpg"};
    return suffixes[static_cast<std::size_t>(e)];
}

std::int64_t elements(const Extents& extents) {
    // Nothing, however large the others are that are multiplied with it.
    if (std::ranges::find(extents, 0) != extents.end()) return 0;
    std::int64_t product = 1;
    for (const std::int64_t extent : extents) product *= extent;
    return product;
}

std::string to_text(const Extents& extents) {
    return joined(
        extents, [](std::int64_t extent) { return std::to_string(extent); }, "x");
}

std::optional<Extents> extents_in(std::string_view text) {
    Extents extents;
    const char* at = text.data();
    const char* const end = at + text.size();
    double bytes = 1;
    for (;;) {
        std::int64_t extent = 0;
        const auto [behind, error] = std::from_chars(at, end, extent);
        if (error != std::errc() || extent < 1) return std::nullopt;
        extents.push_back(extent);
        bytes *= static_cast<double>(extent);
        if (behind == end) break;
        if (*behind != 'x') return std::nullopt;
        at = behind + 1;
    }
    return bytes <= largest_sample_bytes ? std::optional(extents) : std::nullopt;
}

}  // namespace sextant
