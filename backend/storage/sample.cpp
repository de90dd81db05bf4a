#include "backend/storage/sample.hpp"

#include "model/base/list_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace sextant {
namespace {

struct EncodingName {
    Encoding encoding;
    std::string_view name, suffix;
};
constexpr std::array encodings = {EncodingName{Encoding::raw, "raw", "npy"}, EncodingName{Encoding::png, "png", "png"},
                                  EncodingName{Encoding::jpeg, "jpeg", "jpg"}};

const EncodingName& row_of(Encoding e) { return *std::ranges::find(encodings, e, &EncodingName::encoding); }

}  // namespace

std::string_view to_text(Encoding e) { return row_of(e).name; }
std::string_view suffix_of(Encoding e) { return row_of(e).suffix; }

std::optional<Encoding> encoding_named(std::string_view name) {
    const auto* const row = std::ranges::find(encodings, name, &EncodingName::name);
    return row == encodings.end() ? std::nullopt : std::optional(row->encoding);
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
