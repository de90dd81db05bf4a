#include "backend/storage/probe_samples.hpp"

#include "model/base/diagnostics.hpp"
#include "model/plan/data_source.hpp"
#include "tests/storage/dataset_fixture.hpp"

#include <gmock/gmock.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;
using namespace units;

class SampleProbeTest : public DatasetTest {};

TEST_F(SampleProbeTest, MeasuresEveryEncodingAndFormatAndLeavesNothingBehind) {
    fs::create_directories(at("here"));
    std::int64_t last = 0, all = 0;
    const SampleSpeeds s = probe_samples(at("here"), "a test", [&](std::int64_t done, std::int64_t of) { last = done, all = of; });
    EXPECT_EQ(last, all);
    EXPECT_THAT(fs::directory_iterator(at("here")), fs::directory_iterator());
    for (const auto* speed : {&s.decode_jpeg, &s.decode_png, &s.encode_jpeg, &s.encode_png, &s.resize, &s.convert}) {
        ASSERT_TRUE(*speed);
        EXPECT_GT((*speed)->value, 0.5 * MB / units::s);
        EXPECT_LT((*speed)->value, 1 * TB / units::s);
        EXPECT_EQ((*speed)->source, "a test");
    }
    // PNG packs its bytes; JPEG looks for few.
    EXPECT_LT(s.encode_png->value, s.decode_jpeg->value);
    for (const DataFormat format : all_data_formats) {
        const auto found = s.formats.find(to_text(format));
        ASSERT_NE(found, s.formats.end()) << to_text(format);
        ASSERT_TRUE(found->second.read && found->second.write) << to_text(format);
        EXPECT_LT(found->second.read->value, 10 * ms) << to_text(format);
    }
    // Its checksums go over every byte.
    EXPECT_TRUE(s.formats.find("tfrecord")->second.read_bytes);
}

TEST_F(SampleProbeTest, RefusesWhatIsNoDirectory) { EXPECT_THROW(probe_samples(at("nowhere"), "x", no_progress), InputError); }

}  // namespace
}  // namespace sextant
