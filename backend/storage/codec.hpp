// Decodes and encodes samples: PNG by libpng, JPEG by libjpeg-turbo, and .npy.
//
// InputErrors from here have no file name; naming() adds it.
#pragma once

#include "backend/storage/sample.hpp"

namespace sextant {

// Recognizes the encoding of a file by its first bytes; none where it is not one of these.
std::optional<SampleEncoding> encoding_of(BlobView file);
// Of a sample's bytes; `raw` also where they are none that is recognized.
SampleEncoding encoding_of(const Sample&);

// Refuses a damaged or truncated file, even where the library would accept it.
ByteArray decode(const Sample&);
// PNG and JPEG take images of one or three channels, `raw` takes anything.
Sample encode(const ByteArray&, std::int64_t label, SampleEncoding);

// Resizes an image: each pixel is a mean of those that it covers, weighted by a triangle as wide as the scale factor (Pillow's "bilinear").
ByteArray resize(const ByteArray&, std::int64_t height, std::int64_t width);

// One library each.
ByteArray decode_png(BlobView);
Blob encode_png(const ByteArray&);
ByteArray decode_jpeg(BlobView);
Blob encode_jpeg(const ByteArray&);  // of quality 90

}  // namespace sextant
