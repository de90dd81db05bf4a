#include "model/cost/data_formats.hpp"

#include <array>

namespace sextant {
namespace {

using namespace units;

Sourced<Seconds> estimated(Seconds t, const char* why) { return {t, SourceKind::estimated, why}; }
Sourced<Seconds> measured(Seconds t, const char* where) { return {t, SourceKind::measured, where}; }

// Headers as the formats are specified: ustar blocks of 512 bytes, of which the last is half empty; zip's local header, its entry of the
// directory and twice a name of 24 characters (APPNOTE 4.3); TFRecord's length and two checksums, and the fields of an Example around it.
const std::array<FormatFacts, 7> formats{{
    {false, Bytes{}, estimated(10 * us, "a few calls of the system and an interpreter"), {}},
    {true, 768 * B, estimated(20 * us, "a header to parse in an interpreter"), {}},
    {true,
     124 * B,
     measured(20 * us, "ours: zipfile of Python 3.11, stored members of 100 bytes, warm, on a virtual machine"),
     {{2.1 * GB / s, SourceKind::measured, "ours: zlib's crc32 of 100 KB, as zipfile calls it, on the same machine"}}},
    {true, Bytes{}, measured(7 * us, "h5py/h5py#1428: 10,000 small reads in 70 ms"), {}},
    {true, 16 * B, estimated(5 * us, "a walk down a tree in memory"), {}},
    {true, 64 * B, estimated(20 * us, "a record to parse and a checksum"), {}},
    {true, Bytes{}, estimated(5 * us, "a slice of a mapped array"), {}},
}};

// Pillow decodes 537 and 577 images of ImageNet's validation set a second on one thread of an EPYC 9B14 and of a Xeon Platinum 8581C
// (ternaus/imread_benchmark), hosts of speed 1.1; an image has about 400 x 350 pixels (tensorpack's tutorial on ImageNet) in 110 KB.
// PNG: Pillow-SIMD shrinks one of 256 x 256 in 3.41 ms, a JPEG in 0.87 ms, on an i5-4430 (gist homm/61f3a274). Nobody measured encoding
// with them: as `sextant calibrate` has it of libjpeg and libpng, against what decoding takes there.
const std::array<EncodingFacts, 3> encodings{{
    {1, {}, {}},
    {1.5,
     {{55 * MB / s, SourceKind::measured, "Pillow-SIMD on an i5-4430, gist homm/61f3a274"}},
     {{10 * MB / s, SourceKind::estimated, "some five times as long as decoding"}}},
    {3.8,
     {{210 * MB / s, SourceKind::measured, "Pillow, ImageNet, ternaus/imread_benchmark"}},
     {{210 * MB / s, SourceKind::estimated, "as long as decoding"}}},
}};

// pytorch/vision#7497, v1 on tensors, medians of 1,000 images: 1,230 us to resize and 110 us to crop 420 KB; 255 us to a tensor, 47 us to
// flip, 121 us to convert and 186 us to normalize the 150 KB that are left. The processor is not named: speed 1.
const TransformFacts transforms{{310 * MB / s, SourceKind::measured, "pytorch/vision#7497"},
                                {250 * MB / s, SourceKind::measured, "pytorch/vision#7497"}};

}  // namespace

const FormatFacts& facts_of(DataFormat f) { return formats[static_cast<std::size_t>(f)]; }
const EncodingFacts& facts_of(SampleEncoding e) { return encodings[static_cast<std::size_t>(e)]; }
const TransformFacts& transform_facts() { return transforms; }

}  // namespace sextant
