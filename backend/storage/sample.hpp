// A sample of a dataset: bytes with a label, and what the bytes are.
#pragma once

#include "model/plan/data_source.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

using Blob = std::vector<std::uint8_t>;
using BlobView = std::span<const std::uint8_t>;
using Extents = std::vector<std::int64_t>;  // [height, width, channels] of an image, [length] of a sequence of tokens

// `raw` is an array of bytes; where each sample is a file, a .npy file.
std::optional<SampleEncoding> encoding_named(std::string_view);
std::string_view suffix_of(SampleEncoding);  // of a file's name: "npy", "png", "jpg"

struct Sample {
    Blob bytes;
    Extents extents;  // of bare values; empty: the bytes are a file (PNG, JPEG, .npy)
    std::int64_t label = 0;
};

// The values of a sample, one byte each.
struct ByteArray {
    Extents extents;
    Blob values;
};

std::int64_t elements(const Extents&);
std::string to_text(const Extents&);                           // "32x32x3"
std::optional<Extents> extents_in(std::string_view);           // of such a text
inline constexpr std::int64_t largest_sample_bytes = 1 << 28;  // more is taken for a damaged file

}  // namespace sextant
