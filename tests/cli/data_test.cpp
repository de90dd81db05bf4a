#include "tests/cli/process_json.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

class Data : public TemporaryFolder {
protected:
    static ProcessResult shell(const std::string& line) { return run_program("bash", {"-c", line}); }
};

std::string text_of_file(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

// Some supervisors start programs so; a child would leave no status.
TEST_F(Data, IsMadeOrFailsWhereSignalsOfChildrenAreIgnored) {
    const std::vector<std::string> data{"--ignore-signal=CHLD", SEXTANT_BINARY, "data"};
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin(), data.begin(), data.end());
        return run_program("env", words);
    };
    const ProcessResult made = run({"make", file("images"), "--samples", "3", "--size", "4x4x3"});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_EQ(run({"bench", file("nothing")}).exit_code, 2);
}

// A name is bytes; JSON is text in UTF-8, with U+FFFD for what is none.
TEST_F(Data, IsMeasuredWhateverTheBytesOfItsName) {
    const std::string name = file("im\xffges");
    EXPECT_EQ(run_sextant({"data", "make", name, "--samples", "3", "--size", "4x4x3"}).exit_code, 0);
    const ProcessResult bench = run_sextant({"data", "bench", name, "--epochs", "1", "--format", "json"});
    ASSERT_EQ(bench.exit_code, 0) << bench.err;
    EXPECT_EQ(json_of(bench).at("path"), file("im\uFFFDges"));
}

TEST_F(Data, IsMadeConvertedAndMeasured) {
    const ProcessResult made = run_sextant({"data", "make", file("images"), "--samples", "30", "--size", "16x16x3", "--seed", "5"});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_EQ(made.out, "30 samples written to " + file("images") + "\n") << "in a pipe no progress";
    EXPECT_THAT(made.err, IsEmpty());
    const ProcessResult converted =
        run_sextant({"data", "convert", file("images"), file("images.h5"), "--format", "hdf5", "--encoding", "raw", "--resize", "8x8"});
    EXPECT_EQ(converted.exit_code, 0) << converted.err;
    const ProcessResult bench = run_sextant(
        {"data", "bench", file("images.h5"), "--epochs", "2", "--workers", "1,3", "--cold", "--random", "--write", "--format", "json"});
    ASSERT_EQ(bench.exit_code, 0) << bench.err;
    const auto json = json_of(bench);
    EXPECT_EQ(json.at("schema"), "data_bench/1");
    EXPECT_EQ(json.at("format"), "hdf5");
    EXPECT_EQ(json.at("extents"), "8x8x3");
    EXPECT_EQ(json.at("samples"), 30);
    EXPECT_EQ(json.at("bytes"), 30 * 8 * 8 * 3);
    EXPECT_EQ(json.at("rows").size(), 1 + 2 * 2 + 2U);
    EXPECT_THAT(run_sextant({"data", "bench", file("images")}).out, HasSubstr("30 samples of 16x16x3, jpeg, files"));
}

TEST_F(Data, SaysWhatIsWrongWithItsArguments) {
    for (const std::vector<std::string>& wrong :
         std::vector<std::vector<std::string>>{{"data"},
                                               {"data", "make"},
                                               {"data", "make", file("d"), "--format", "rar"},
                                               {"data", "make", file("d"), "--encoding", "gif"},
                                               {"data", "make", file("d"), "--size", "8x8"},
                                               {"data", "make", file("d"), "--samples", "0"},
                                               {"data", "make", file("d"), "--format", "npy", "--encoding", "png"},
                                               {"data", "convert", file("absent"), file("d"), "--format", "tar"},
                                               {"data", "convert", file("absent"), file("d")},
                                               {"data", "bench", file("absent")},
                                               {"data", "bench", file("absent"), "--workers", "1,x"}}) {
        const ProcessResult r = run_sextant(wrong);
        EXPECT_EQ(r.exit_code, 2) << testing::PrintToString(wrong);
        EXPECT_FALSE(r.err.empty()) << testing::PrintToString(wrong);
    }
    EXPECT_FALSE(fs::exists(file("d")));
    const ProcessResult all = run_sextant({"data", "make", file("d"), "--samples", "-5", "--classes", "0", "--size", "big"});
    EXPECT_EQ(all.exit_code, 2);
    for (const char* option : {"--samples: ", "--classes: ", "--size: "}) EXPECT_THAT(all.err, HasSubstr(option));
}

TEST_F(Data, TakesThePlaceOfNothingThatItReads) {
    ASSERT_EQ(run_sextant({"data", "make", file("images"), "--samples", "3", "--size", "4x4x3"}).exit_code, 0);
    EXPECT_THAT(run_sextant({"data", "convert", file("images"), file("./images/"), "--format", "tar"}),
                exits_with(2, HasSubstr("is read, and would be written over")));
    EXPECT_TRUE(fs::is_directory(file("images")));
}

TEST_F(Data, NamesADamagedSampleAndGoesOnWhereItMay) {
    ASSERT_EQ(run_sextant({"data", "make", file("images"), "--samples", "12", "--size", "8x8x3", "--classes", "1"}).exit_code, 0);
    fs::resize_file(file("images/class_0000/00000004.jpg"), 50);
    EXPECT_THAT(run_sextant({"data", "convert", file("images"), file("images.tar"), "--format", "tar"}),
                exits_with(2, HasSubstr("class_0000/00000004.jpg: it is no whole JPEG")));
    const ProcessResult skipped =
        run_sextant({"data", "convert", file("images"), file("images.tar"), "--format", "tar", "--bad-samples", "skip"});
    EXPECT_EQ(skipped.exit_code, 0);
    EXPECT_THAT(skipped.out, HasSubstr("11 samples written"));
    EXPECT_THAT(skipped.out, HasSubstr("1 skipped:\n  "));
    EXPECT_THAT(skipped.out, HasSubstr("00000004.jpg"));
}

class DataOnAFullDisk : public Data, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Formats, DataOnAFullDisk, testing::Values("files", "tar", "zip", "hdf5", "lmdb", "tfrecord", "npy", "raw"));

// No file may be larger than 64 KiB: what a full disk looks like to who writes, without one.
TEST_P(DataOnAFullDisk, LeavesTheDatasetBeforeIntact) {
    const std::string format = GetParam(), make = std::string(SEXTANT_BINARY) + " data make " + file("d") +
                                                  " --size 200x200x3 --encoding raw --format " + format;
    ASSERT_EQ(shell(std::string(SEXTANT_BINARY) + " data make " + file("d") + " --size 8x8x3 --samples 5 --encoding raw --format " + format)
                  .exit_code,
              0);
    const auto before = [&] {
        return shell("cd " + file("d") + " 2>/dev/null && find . -type f | sort | xargs cat || cat " + file("d")).out;
    };
    const std::string was = before();
    const ProcessResult r = shell("ulimit -f 64; " + make + " --samples 20");
    EXPECT_EQ(r.exit_code, 3) << r.err;
    EXPECT_THAT(r.err, HasSubstr("the machine refused: cannot write")) << r.err;
    EXPECT_EQ(before(), was);
    EXPECT_FALSE(fs::exists(file("d.part")));
}

TEST_F(Data, OnASmallFilesystemThatFillsUpStaysAsItWas) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can mount a small filesystem";
    fs::create_directories(file("small"));
    if (shell("mount -t tmpfs -o size=2m tmpfs " + file("small")).exit_code != 0)
        GTEST_SKIP() << "a small filesystem cannot be mounted here";
    const std::string sextant = SEXTANT_BINARY, out = file("small/d"), bench = sextant + " data bench " + out + " --epochs 1 --workers 1";
    const std::string make = sextant + " data make --size 64x64x3 --encoding raw --format ";
    ASSERT_EQ(shell(make + "tar --samples 500 " + file("large")).exit_code, 0);
    for (const std::string format : {"files", "tar", "zip", "hdf5", "lmdb", "tfrecord"}) {
        EXPECT_EQ(shell(make + format + " --samples 20 " + out).exit_code, 0) << format;
        // How small pictures become is not known before they are written.
        const ProcessResult full = shell(sextant + " data convert " + file("large") + " " + out + " --encoding png --format " + format);
        EXPECT_EQ(full.exit_code, 3) << format;
        EXPECT_THAT(full.err, HasSubstr("cannot write")) << format;
        EXPECT_THAT(shell(bench).out, HasSubstr("20 samples of 64x64x3")) << format;
        EXPECT_FALSE(fs::exists(out + ".part")) << format;
    }
    EXPECT_THAT(shell(make + "raw --samples 500 " + out), exits_with(2, HasSubstr("the dataset takes 6.14 MB there, and")));
    EXPECT_THAT(shell(bench).out, HasSubstr("20 samples of 64x64x3"));
    shell("umount " + file("small"));
}

TEST_F(Data, ThatIsInterruptedLeavesTheDatasetBeforeIntact) {
    const std::string make = std::string(SEXTANT_BINARY) + " data make " + file("d") + " --format tar --samples ";
    ASSERT_EQ(shell(make + "3").exit_code, 0);
    const std::string was = text_of_file(file("d"));
    // As soon as the new one grows beside it.
    const ProcessResult r = shell(make + "100000 & child=$!; for i in $(seq 500); do [ -s " + file("d.part") +
                                  " ] && break; sleep 0.02; done; kill -INT $child; wait $child");
    EXPECT_EQ(r.exit_code, 128 + 2);
    EXPECT_EQ(text_of_file(file("d")), was);
    EXPECT_FALSE(fs::exists(file("d.part")));
}

}  // namespace
}  // namespace sextant
