#include "backend/storage/make_dataset.hpp"

#include "backend/storage/codec.hpp"
#include "model/base/diagnostics.hpp"
#include "tests/base/refusal.hpp"
#include "tests/storage/dataset_fixture.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace sextant {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

class ConvertedDatasets : public DatasetTest, public testing::WithParamInterface<DatasetKind> {};
INSTANTIATE_TEST_SUITE_P(All, ConvertedDatasets, testing::ValuesIn(dataset_kinds()), test_name);

TEST_P(ConvertedDatasets, HoldTheSameSamples) {
    make("from", {"zip", SampleEncoding::png});
    convert_dataset({at("from"), at("to"), GetParam().format, GetParam().encoding, {}, BadSamples::fail}, no_progress);
    const std::vector<Sample> before = samples_of(*open_dataset(at("from"))), after = samples_of(*open_dataset(at("to")));
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
        EXPECT_EQ(after[i].label, before[i].label);
        if (GetParam().encoding == SampleEncoding::png) {
            EXPECT_EQ(after[i].bytes, before[i].bytes) << "what need not change does not";
        } else if (GetParam().encoding == SampleEncoding::raw) {
            EXPECT_EQ(decode(after[i]).values, decode(before[i]).values);
        } else {
            EXPECT_EQ(encoding_of(after[i].bytes), SampleEncoding::jpeg);
        }
    }
}

using MadeDatasets = DatasetTest;

TEST_F(MadeDatasets, KeepTheirEncodingWhereNothingIsSaid) {
    make("from", {"files", SampleEncoding::jpeg});
    convert_dataset({at("from"), at("to"), "hdf5", {}, {}, BadSamples::fail}, no_progress);
    EXPECT_EQ(samples_of(*open_dataset(at("to")))[3].bytes, samples_of(*open_dataset(at("from")))[3].bytes);
    convert_dataset({at("to"), at("array"), "npy", {}, {}, BadSamples::fail}, no_progress);
    EXPECT_EQ(samples_of(*open_dataset(at("array")))[3].bytes, decode(samples_of(*open_dataset(at("from")))[3]).values);
}

TEST_F(MadeDatasets, MayHaveMoreClassesThanMemoryHolds) {
    make_dataset({at("d"), "files", SampleEncoding::png, 3, 1'000'000'000'000, {8, 6, 3}, 1}, no_progress);
    EXPECT_EQ(open_dataset(at("d"))->count(), 3);
}

TEST_F(MadeDatasets, AreRefusedBeforeTheyFillTheDisk) {
    const auto never = [](std::int64_t, std::int64_t) { ADD_FAILURE() << "something was written"; };
    const MakeSettings too_many{at("d"), "files", SampleEncoding::raw, 1'000'000'000'000, 10, {224, 224, 3}, 1};
    EXPECT_THAT(refusal_by([&] { return make_dataset(too_many, never).samples; }), HasSubstr("the dataset takes 151 PB there, and "));
    EXPECT_TRUE(fs::is_empty(at("d").parent_path()));
}

TEST_F(MadeDatasets, AreResizedOnceForAll) {
    make("from", {"files", SampleEncoding::png});
    convert_dataset({at("from"), at("to"), "raw", {}, ImageSize{3, 2}, BadSamples::fail}, no_progress);
    EXPECT_EQ(samples_of(*open_dataset(at("to")))[0].extents, (Extents{3, 2, 3}));
}

struct Ended {};

// A look at all samples takes about as long as to write them.
TEST_F(MadeDatasets, CanBeEndedWhileTheyAreLookedAt) {
    make("from", {"files", SampleEncoding::png});
    int asked = 0;
    const auto end_soon = [&](std::int64_t done, std::int64_t of) {
        EXPECT_EQ(done, 0);
        EXPECT_EQ(of, 20);
        if (++asked == 3) throw Ended{};
    };
    EXPECT_THROW(convert_dataset({at("from"), at("to"), "tar", {}, {}, BadSamples::skip}, end_soon), Ended);
    EXPECT_FALSE(fs::exists(at("to")));
}

TEST_F(MadeDatasets, LoseBadSamplesOnlyWhereThatIsAskedFor) {
    make("from", {"files", SampleEncoding::png});
    write_bytes(open_dataset(at("from"))->name(7), "damaged");
    EXPECT_THROW(convert_dataset({at("from"), at("to"), "npy", {}, {}, BadSamples::fail}, no_progress), InputError);
    EXPECT_FALSE(fs::exists(at("to")));
    const Written written = convert_dataset({at("from"), at("to"), "npy", {}, {}, BadSamples::skip}, no_progress);
    EXPECT_EQ(written.samples, 19);
    ASSERT_THAT(written.skipped, SizeIs(1));
    EXPECT_THAT(written.skipped[0], HasSubstr("00000007.png: it is neither PNG, JPEG nor .npy"));
    EXPECT_EQ(open_dataset(at("to"))->count(), 19);
}

TEST_F(MadeDatasets, CanBeLearned) {
    // The mean picture of each class, of 200 samples; the nearest mean names the class of 100 others, also after JPEG has lost what it
    // loses.
    make("d", {"lmdb", SampleEncoding::jpeg}, 300, {16, 16, 3});
    const std::vector<Sample> samples = samples_of(*open_dataset(at("d")));
    std::vector<std::vector<double>> means(5, std::vector<double>(16 * 16 * 3));
    std::vector<int> counts(5);
    for (std::size_t i = 0; i < 200; ++i) {
        const Blob values = decode(samples[i]).values;
        for (std::size_t k = 0; k < values.size(); ++k) means[static_cast<std::size_t>(samples[i].label)][k] += values[k];
        ++counts[static_cast<std::size_t>(samples[i].label)];
    }
    int right = 0;
    for (std::size_t i = 200; i < 300; ++i) {
        const Blob values = decode(samples[i]).values;
        std::int64_t nearest = -1;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < 5; ++c) {
            double distance = 0;
            for (std::size_t k = 0; k < values.size(); ++k) distance += std::pow(values[k] - means[c][k] / counts[c], 2);
            if (distance < least) least = distance, nearest = static_cast<std::int64_t>(c);
        }
        right += nearest == samples[i].label;
    }
    EXPECT_EQ(right, 100);
}

class ReplacedDatasets : public DatasetTest, public testing::WithParamInterface<DatasetKind> {};
INSTANTIATE_TEST_SUITE_P(All, ReplacedDatasets, testing::ValuesIn(dataset_kinds()), test_name);

TEST_P(ReplacedDatasets, StayUntilTheNewOneIsWhole) {
    make("d", GetParam());
    const std::string before = everything_in(at("d"));
    struct Stop {};
    const auto stops = [](std::int64_t done, std::int64_t) {
        if (done == 10) throw Stop{};
    };
    EXPECT_THROW(make_dataset({at("d"), GetParam().format, GetParam().encoding, 20, 5, {8, 6, 3}, 2}, stops), Stop);
    EXPECT_EQ(everything_in(at("d")), before);
    EXPECT_FALSE(fs::exists(at("d.part")));
    make_dataset({at("d"), GetParam().format, GetParam().encoding, 20, 5, {8, 6, 3}, 2}, no_progress);
    EXPECT_NE(everything_in(at("d")), before);
    EXPECT_FALSE(fs::exists(at("d.part")));
}

TEST_F(MadeDatasets, ReplaceNothingThatIsNoDataset) {
    fs::create_directories(at("home/photos"));
    write_bytes(at("home/letter.txt"), "dear");
    for (const char* there : {"home", "home/letter.txt"}) {
        EXPECT_THROW(make(there, {"files", SampleEncoding::png}), InputError) << there;
        EXPECT_THROW(make(there, {"tar", SampleEncoding::png}), InputError) << there;
    }
    EXPECT_EQ(bytes_of(at("home/letter.txt")), "dear");
    make("d", {"files", SampleEncoding::png});
    make("d", {"tar", SampleEncoding::png});  // a folder of ours by a file
    EXPECT_EQ(format_at(at("d")).name, "tar");
    make("d", {"files", SampleEncoding::png});  // and back
    EXPECT_EQ(format_at(at("d")).name, "files");
}

TEST_F(MadeDatasets, AreRefusedWhereFormatAndEncodingDoNotGoTogether) {
    EXPECT_THROW(make("d", {"npy", SampleEncoding::png}), InputError);
    EXPECT_THROW(make("d", {"tar", SampleEncoding::png}, 5, {64}), InputError);
    EXPECT_THROW(make("no/such/folder/d", {"tar", SampleEncoding::png}), BackendError);
}

}  // namespace
}  // namespace sextant
