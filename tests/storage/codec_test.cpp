#include "backend/storage/codec.hpp"

#include "model/base/diagnostics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ByteArray ramp(std::int64_t height, std::int64_t width, std::int64_t channels) {
    ByteArray image{{height, width, channels}, {}};
    for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x)
            for (std::int64_t c = 0; c < channels; ++c) image.values.push_back(static_cast<std::uint8_t>(40 + 4 * x + 3 * y + 20 * c));
    return image;
}

int largest_difference(const Blob& a, const Blob& b) {
    int largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(int{a[i]} - int{b[i]}));
    return largest;
}

TEST(Codec, PngLosesNothingInColourAndGrey) {
    for (const std::int64_t channels : {1, 3}) {
        const ByteArray image = ramp(9, 14, channels);
        const ByteArray found = decode(encode(image, 3, SampleEncoding::png));
        EXPECT_EQ(found.extents, image.extents);
        EXPECT_EQ(found.values, image.values);
    }
}

TEST(Codec, JpegLosesLittleOfASmoothPicture) {
    for (const std::int64_t channels : {1, 3}) {
        const ByteArray image = ramp(16, 24, channels);
        const ByteArray found = decode(encode(image, 3, SampleEncoding::jpeg));
        EXPECT_EQ(found.extents, image.extents);
        EXPECT_LE(largest_difference(found.values, image.values), 12);
    }
}

TEST(Codec, RefusesWhatIsCutOffWhereverItIsCut) {
    for (const SampleEncoding e : {SampleEncoding::raw, SampleEncoding::png, SampleEncoding::jpeg}) {
        Sample whole = encode(ramp(16, 16, 3), 0, e);
        if (e == SampleEncoding::raw) continue;  // bare values: their reader knows their size
        for (std::size_t bytes = 0; bytes < whole.bytes.size() - 12; bytes += 5) {
            const Sample cut{Blob(whole.bytes.begin(), whole.bytes.begin() + static_cast<std::ptrdiff_t>(bytes)), {}, 0};
            EXPECT_THROW(decode(cut), InputError) << to_text(e) << " cut to " << bytes;
        }
    }
}

TEST(Codec, DoesNotBelieveAPictureOfAHugeSize) {
    Sample png = encode(ramp(4, 4, 3), 0, SampleEncoding::png);
    // Width and height stand at 16 and 20, most significant byte first.
    png.bytes[16] = png.bytes[20] = 0x00;
    png.bytes[17] = png.bytes[21] = 0x0f;
    EXPECT_THROW(decode(png), InputError);
}

TEST(Resize, ToHalfTheSizeWeighsByATriangle) {
    // Four pixels to two: scale 2, so the triangle of the first new pixel (centre 1) reaches over 0 to 3: pixels at 0.5, 1.5 and 2.5 with
    // weights 0.75, 0.75 and 0.25. Of 0, 100 and 200: (75 + 50) / 1.75 = 71.4. The other one mirrored (centre 3, pixels 1.5, 2.5, 3.5): (25
    // + 150 + 225) / 1.75 = 228.6, with 100, 200 and 250: (25 + 150 + 187.5) / 1.75 = 207.1.
    const ByteArray line{{1, 4, 1}, {0, 100, 200, 250}};
    EXPECT_THAT(resize(line, 1, 2).values, ElementsAre(71, 207));
}

TEST(Resize, KeepsAConstantAndAnUnchangedSize) {
    const ByteArray grey{{7, 5, 3}, Blob(105, 91)};
    EXPECT_THAT(resize(grey, 13, 3).values, testing::AllOf(testing::Each(91), testing::SizeIs(13 * 3 * 3)));
    const ByteArray image = ramp(6, 8, 3);
    EXPECT_EQ(resize(image, 6, 8).values, image.values);
}

TEST(Extents, AreReadAsTheyAreWritten) {
    EXPECT_EQ(extents_in("224x32x3"), (Extents{224, 32, 3}));
    EXPECT_EQ(to_text(Extents{224, 32, 3}), "224x32x3");
    for (const char* bad : {"", "x", "3x", "x3", "0x3", "-1", "3 x 3", "99999999999999999999", "100000x100000x3"})
        EXPECT_FALSE(extents_in(bad)) << bad;
}

}  // namespace
}  // namespace sextant
