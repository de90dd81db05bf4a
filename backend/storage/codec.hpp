// What the bytes of a sample mean: PNG by libpng, JPEG by libjpeg-turbo, .npy.
//
// Problems are InputErrors without a file's name: see naming().
#pragma once

#include "backend/storage/sample.hpp"

namespace sextant {

// Of an encoded file, by how it begins; absent where it is none of them.
std::optional<Encoding> encoding_of(BlobView file);

// A damaged or shortened file is refused, also where the library would make do with what there is.
ByteArray decode(const Sample&);
// An image of one or three channels for PNG and JPEG; anything as `raw`.
Sample encode(const ByteArray&, std::int64_t label, Encoding);

// Of an image: each pixel the mean of those it covers, weighted by a triangle as wide as the change of scale ("bilinear" of Pillow).
ByteArray resize(const ByteArray&, std::int64_t height, std::int64_t width);

// One library each.
ByteArray decode_png(BlobView);
Blob encode_png(const ByteArray&);
ByteArray decode_jpeg(BlobView);
Blob encode_jpeg(const ByteArray&);  // of quality 90

}  // namespace sextant
