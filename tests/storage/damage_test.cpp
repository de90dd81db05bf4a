// Every reader comes back from every damaged file, with an error that names it or with samples.
#include "backend/storage/codec.hpp"
#include "model/base/diagnostics.hpp"
#include "tests/base/refusal.hpp"
#include "tests/storage/dataset_fixture.hpp"

#include <gmock/gmock.h>

#include <random>

#include <sys/stat.h>
#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class DamagedDatasets : public DatasetTest, public testing::WithParamInterface<DatasetKind> {};
std::vector<DatasetKind> kinds_of_one_file() {
    std::vector<DatasetKind> kinds = dataset_kinds();
    std::erase_if(kinds, [](const DatasetKind& k) { return k.format == "files"; });
    return kinds;
}
INSTANTIATE_TEST_SUITE_P(All, DamagedDatasets, testing::ValuesIn(kinds_of_one_file()), test_name);

// How many samples were good; an error must name the file.
int good_samples(const fs::path& path) {
    int good = 0;
    const auto named = [&](const InputError& e) { EXPECT_THAT(e.diagnostics().front().file, HasSubstr(path.filename().string())); };
    try {
        const auto reader = open_dataset(path);
        Sample sample;
        for (std::int64_t i = 0; i < std::min<std::int64_t>(reader->count(), 20); ++i) {
            try {
                reader->read(i, sample);
                naming([&] { return reader->name(i); }, [&] { decode(sample); });
                ++good;
            } catch (const InputError& e) {
                named(e);
            }
        }
    } catch (const InputError& e) {
        named(e);
    }
    return good;
}

TEST_F(DatasetTest, APipeIsNoDatasetAndIsNotWaitedFor) {
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
    EXPECT_THAT(refusal_by([&] { return open_dataset(at("pipe")); }), HasSubstr("pipe: it is no regular file"));
}

TEST_P(DamagedDatasets, ThatAreCutOffLoseSamplesAndNothingElse) {
    const std::string whole = bytes_of(make("d", GetParam()));
    ASSERT_EQ(good_samples(at("d")), 20);
    for (int part = 0; part < 58; ++part) {  // a tar archive ends with empty blocks, which nobody misses
        write_bytes(at("cut"), whole.substr(0, whole.size() * static_cast<std::size_t>(part) / 60));
        EXPECT_LT(good_samples(at("cut")), 20) << "cut to " << part << " / 60";
    }
}

TEST_P(DamagedDatasets, WithWrongBytesAreReadOrRefused) {
    const std::string whole = bytes_of(make("d", GetParam()));
    std::mt19937_64 random(7);
    constexpr int files = 300;
    int good = 0;
    for (int k = 0; k < files; ++k) {
        std::string damaged = whole;
        for (int changes = 1 + static_cast<int>(random() % 8); changes > 0; --changes) {
            // Half of the changes near the ends, where what leads to everything else stands.
            const std::size_t range = random() % 2 == 0 ? std::min<std::size_t>(damaged.size(), 600) : damaged.size();
            const std::size_t place = random() % range;
            damaged[random() % 2 == 0 ? place : damaged.size() - 1 - place] = static_cast<char>(random());
        }
        write_bytes(at("wrong"), damaged);
        good += good_samples(at("wrong"));
    }
    // Some of either, or nothing was tried.
    EXPECT_GT(good, 0);
    EXPECT_LT(good, files * 20);
}

TEST_P(DamagedDatasets, OfNoUseAreRefusedWithTheirName) {
    write_bytes(at("empty"), "");
    write_bytes(at("noise"), std::string(5000, 'x'));
    for (const char* name : {"empty", "noise", "absent"}) EXPECT_EQ(good_samples(at(name)), 0);
}

using DamagedFiles = DatasetTest;

TEST_F(DamagedFiles, AreNamedOneByOne) {
    make("d", {"files", SampleEncoding::png});
    const auto reader = open_dataset(at("d"));
    const fs::path cut = reader->name(3), gone = reader->name(4), closed = reader->name(5);
    write_bytes(cut, bytes_of(cut).substr(0, 40));
    fs::remove(gone);
    write_bytes(closed, "no picture at all");
    const auto problem = [&](std::int64_t i) {
        return refusal_by([&] {
            Sample sample;
            reader->read(i, sample);
            naming([&] { return reader->name(i); }, [&] { decode(sample); });
        });
    };
    EXPECT_THAT(problem(3), HasSubstr(cut.string() + ": it is no whole PNG"));
    EXPECT_THAT(problem(4), HasSubstr(gone.string() + ": it cannot be opened: No such file"));
    EXPECT_THAT(problem(5), HasSubstr(closed.string() + ": it is neither PNG, JPEG nor .npy"));
    EXPECT_EQ(problem(6), "");
}

TEST_F(DamagedFiles, OfATfrecordAreFoundByTheirChecksums) {
    make("d", {"tfrecord", SampleEncoding::raw});
    std::string bytes = bytes_of(at("d"));
    bytes[100] ^= 1;  // of the first record
    write_bytes(at("d"), bytes);
    const auto reader = open_dataset(at("d"));
    Sample sample;
    EXPECT_THROW(reader->read(0, sample), InputError);
    EXPECT_NO_THROW(reader->read(1, sample));
}

// The block's address stands at byte 48 (HDF5 File Format Specification, II.A); the library would take what it finds there for a size.
TEST_F(DamagedFiles, OfHdf5ThatNameABlockForADriverAreRefusedUnopened) {
    make("d", {"hdf5", SampleEncoding::raw});
    std::string bytes = bytes_of(at("d"));
    ASSERT_EQ(bytes.substr(48, 8), std::string(8, '\xff'));  // nowhere
    bytes.replace(48, 8, std::string("\x08\0\0\0\0\0\0\0", 8));
    write_bytes(at("d"), bytes);
    EXPECT_THAT(refusal_by([&] { return open_dataset(at("d")); }), HasSubstr("it does not begin as one"));
}

// Behind the end of a file the HDF5 library reads zeros, and values without an encoding would be believed. Of 20 samples the first stand
// whole in what is left; but nobody knows of what the rest was.
TEST_F(DamagedFiles, OfHdf5ThatAreCutOffWhileTheyAreReadAreRefused) {
    make("d", {"hdf5", SampleEncoding::raw});
    const auto reader = open_dataset(at("d"));
    Sample sample;
    ASSERT_NO_THROW(reader->read(0, sample));
    const auto size = fs::file_size(at("d"));
    fs::resize_file(at("d"), size / 2);
    EXPECT_THAT(refusal_by([&] { reader->read(19, sample); }),
                HasSubstr("d: sample 19: it ends after " + std::to_string(size / 2) + " bytes"));
}

}  // namespace
}  // namespace sextant
