#include "backend/storage/codec.hpp"
#include "backend/storage/crc32c.hpp"
#include "backend/storage/example_record.hpp"
#include "backend/storage/file.hpp"
#include "backend/storage/learnable_samples.hpp"
#include "backend/storage/npy.hpp"
#include "tests/base/refusal.hpp"
#include "tests/storage/dataset_fixture.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <ctime>
#include <thread>

namespace sextant {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class DatasetFormats : public DatasetTest, public testing::WithParamInterface<DatasetKind> {};
INSTANTIATE_TEST_SUITE_P(All, DatasetFormats, testing::ValuesIn(dataset_kinds()), test_name);

TEST_P(DatasetFormats, GiveBackWhatWasWritten) {
    const fs::path path = make("d", GetParam());
    const auto reader = open_dataset(path);
    const LearnableSamples made({8, 6, 3}, 5, 1);
    ASSERT_EQ(reader->count(), 20);
    Sample read;
    for (std::int64_t i = 0; i < 20; ++i) {
        reader->read(i, read);
        Sample expected = made.sample(i);
        // JPEG loses something, and always the same.
        const ByteArray values = GetParam().encoding == SampleEncoding::jpeg
                                     ? decode(encode({expected.extents, expected.bytes}, expected.label, SampleEncoding::jpeg))
                                     : ByteArray{expected.extents, expected.bytes};
        const ByteArray found = decode(read);
        EXPECT_EQ(found.extents, (Extents{8, 6, 3}));
        EXPECT_EQ(found.values, values.values) << reader->name(i);
        EXPECT_EQ(read.label, expected.label) << reader->name(i);
    }
}

TEST_P(DatasetFormats, AreTheSameBytesForTheSameSeedAndOthersForAnother) {
    const fs::path a = make("a", GetParam()), b = make("b", GetParam());
    EXPECT_EQ(everything_in(a), everything_in(b));
    make_dataset({at("c"), GetParam().format, GetParam().encoding, 20, 5, {8, 6, 3}, 2}, no_progress);
    EXPECT_NE(everything_in(a), everything_in(at("c")));
}

TEST_P(DatasetFormats, DoNotTellWhenTheyWereWritten) {
    const fs::path a = make("a", GetParam());
    for (const std::time_t before = std::time(nullptr); std::time(nullptr) == before;)  // formats count seconds
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(everything_in(a), everything_in(make("b", GetParam())));
}

TEST_P(DatasetFormats, AreKnownByHowTheyBegin) { EXPECT_EQ(format_at(make("d", GetParam())).name, GetParam().format); }

TEST_P(DatasetFormats, AreReadByThreadsAtOnce) {
    const auto reader = open_dataset(make("d", GetParam()));
    const std::vector<Sample> expected = samples_of(*reader);
    std::vector<int> wrong(4);
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < wrong.size(); ++t)
            threads.emplace_back([&, t] {
                Sample sample;
                for (std::int64_t k = 0; k < 200; ++k) {
                    const std::int64_t i = (k * 7 + static_cast<std::int64_t>(t)) % reader->count();
                    reader->read(i, sample);
                    wrong[t] += sample.bytes != expected[static_cast<std::size_t>(i)].bytes;
                }
            });
    }
    EXPECT_THAT(wrong, ElementsAre(0, 0, 0, 0));
}

class DatasetArrays : public DatasetTest, public testing::WithParamInterface<DatasetKind> {};
std::vector<DatasetKind> kinds_of_arrays() {
    std::vector<DatasetKind> kinds = dataset_kinds();
    std::erase_if(kinds, [](const DatasetKind& k) { return k.encoding != SampleEncoding::raw; });
    return kinds;
}
INSTANTIATE_TEST_SUITE_P(All, DatasetArrays, testing::ValuesIn(kinds_of_arrays()), test_name);

TEST_P(DatasetArrays, MayBeSequences) {
    const auto reader = open_dataset(make("d", GetParam(), 7, {33}));
    ASSERT_EQ(reader->count(), 7);
    Sample sample;
    reader->read(6, sample);
    const ByteArray tokens = decode(sample);
    EXPECT_EQ(tokens.extents, Extents{33});
    for (std::size_t i = 1; i < 33; ++i) EXPECT_EQ(tokens.values[i], (5 * tokens.values[i - 1] + 3) % 64);
    EXPECT_EQ(sample.label, tokens.values[0] % 5);
}

TEST(DatasetFormat, OfAnUnknownNameIsRefusedWithTheNearest) {
    EXPECT_THAT(refusal_by([] { return &format_named("tfrecords"); }), HasSubstr("did you mean \"tfrecord\"?"));
}

TEST(Crc32c, IsThatOfThePublishedCheck) {
    // RFC 3720, B.4: 32 bytes of zeros, of ones, and 0 to 31; "123456789" is the usual check value of the polynomial.
    EXPECT_EQ(crc32c(Blob(32, 0)), 0x8a9136aaU);
    EXPECT_EQ(crc32c(Blob(32, 0xff)), 0x62a8ab43U);
    Blob counting;
    for (std::uint8_t i = 0; i < 32; ++i) counting.push_back(i);
    EXPECT_EQ(crc32c(counting), 0x46dd794eU);
    EXPECT_EQ(crc32c(view_of("123456789")), 0xe3069283U);
}

TEST(ExampleRecord, IsTheMessageThatItsDefinitionGives) {
    // By hand, from example.proto and feature.proto: Example.features (1) > Features.feature (1, a map) > key (1), value (2) >
    // Feature.int64_list (3, packed) or bytes_list (1) > value (1). Before each its tag, 8 * number + 2, and its length. 300 is 0xac 0x02
    // as a varint. Of the label: value 4 bytes, list 6, entry 2 + 17 + 2 + 6 = 27; of the bytes: 4, 6, 2 + 13 + 2 + 6 = 23; together 29 +
    // 25 = 54.
    using namespace std::string_literals;
    const std::string expected = "\x0a\x36"s +                                                          //
                                 "\x0a\x1b\x0a\x11image/class/label\x12\x06\x1a\x04\x0a\x02\xac\x02" +  //
                                 "\x0a\x17\x0a\x0dimage/encoded\x12\x06\x0a\x04\x0a\x02\x93x";
    EXPECT_EQ(text_of(example_record({{0x93, 'x'}, {}, 300})), expected);
    // Protocol buffers allow the integer alone, too: tag 8 * 1 + 0.
    Sample read;
    read_example(view_of("\x0a\x35"
                         "\x0a\x1a\x0a\x11image/class/label\x12\x05\x1a\x03\x08\xac\x02"
                         "\x0a\x17\x0a\x0dimage/encoded\x12\x06\x0a\x04\x0a\x02\x93x"),
                 read);
    EXPECT_EQ(read.label, 300);
    EXPECT_EQ(read.bytes, (Blob{0x93, 'x'}));
}

TEST(Npy, HeaderIsReadAsNumpyWritesIt) {
    // numpy.save of an array uint8 of (2, 3): the dictionary is filled up so that 128 bytes stand before the values.
    const Blob file = npy_file({2, 3}, Blob{1, 2, 3, 4, 5, 6});
    ASSERT_EQ(file.size(), 134U);
    EXPECT_THAT(std::string(text_of(BlobView(file).first(10))), testing::Eq(std::string("\x93NUMPY\x01\x00\x76\x00", 10)));
    EXPECT_THAT(std::string(text_of(file)), HasSubstr("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }"));
    EXPECT_EQ(npy_header(file).extents, (Extents{2, 3}));
    EXPECT_EQ(npy_header(npy_file({5}, Blob(5))).extents, Extents{5});
}

using DatasetFiles = DatasetTest;

TEST_F(DatasetFiles, OfOthersHaveAClassForEachFolder) {
    fs::create_directories(at("pets/cats"));
    fs::create_directories(at("pets/dogs"));
    const Blob picture = encode({{2, 2, 3}, Blob(12, 7)}, 0, SampleEncoding::png).bytes;
    for (const char* name : {"pets/dogs/a.png", "pets/cats/b.PNG", "pets/cats/README.txt", "pets/cats/.hidden.png"})
        write_bytes(at(name), text_of(picture));
    const auto reader = open_dataset(at("pets"));
    ASSERT_EQ(reader->count(), 2);
    const std::vector<Sample> samples = samples_of(*reader);
    EXPECT_EQ(samples[0].label, 1);  // a.png, of dogs
    EXPECT_EQ(samples[1].label, 0);
}

TEST_F(DatasetFiles, OfAZipThatOthersCompressedAreUnpacked) {
    const auto reader = open_dataset(fs::path(SEXTANT_SOURCE_DIR) / "fuzz/corpus/dataset_zip/deflated");
    const std::vector<Sample> samples = samples_of(*reader);
    ASSERT_EQ(samples.size(), 2U);
    EXPECT_EQ(decode(samples[0]).values, decode(samples[1]).values);
    EXPECT_EQ(samples[0].label, 0);  // cats
    EXPECT_EQ(samples[1].label, 1);  // dogs
}

TEST_F(DatasetFiles, OfAPlainArrayAreOfOneClass) {
    write_bytes(at("a.npy"), text_of(npy_file({3, 4}, Blob{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23})));
    const auto reader = open_dataset(at("a.npy"));
    ASSERT_EQ(reader->count(), 3);
    const Sample second = samples_of(*reader)[1];
    EXPECT_THAT(second.bytes, ElementsAre(10, 11, 12, 13));
    EXPECT_EQ(second.label, 0);
}

}  // namespace
}  // namespace sextant
