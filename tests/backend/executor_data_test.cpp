// Training on datasets: real processes under mpirun, as in executor_test.cpp.
#include "model/base/quantity.hpp"
#include "tests/backend/mpi_test.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

namespace sextant {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class ExecutorData : public MpiTest {
protected:
    void SetUp() override {
        MpiTest::SetUp();
        data_ = stem_ + ".data";
    }
    void TearDown() override {
        fs::remove_all(data_);
        MpiTest::TearDown();
    }
    void make(std::vector<std::string> words) const {
        words.insert(words.begin(), {"data", "make", data_});
        const ProcessResult r = run_sextant(words);
        ASSERT_EQ(r.exit_code, 0) << r.err;
    }

    std::string data_;
};

json small_images() {
    return {{"chain",
             {{"input_shape", {3, 8, 8}},
              {"layers",
               {{{"conv", {{"width", 8}, {"kernel", 3}}}}, {{"norm", "batch"}}, {{"activation", "relu"}}, {{"pool", "global_average"}}}},
              {"classes", 5}}}};
}

Seconds waited(const json& run) {
    double sum = 0;
    const json& spans = run["trace"]["spans"];
    for (std::size_t i = 0; i < spans["kind"].size(); ++i)
        if (spans["kind"][i] == "input") sum += spans["end_s"][i].get<double>() - spans["start_s"][i].get<double>();
    return Seconds::from_si(sum);
}

TEST_F(ExecutorData, LearnsFromPicturesThatAreDecodedAndResized) {
    make({"--samples", "64", "--size", "16x12x3", "--classes", "5", "--format", "tar", "--encoding", "jpeg"});
    const json run = train(small_images(), {{"optimizer", "adam"}}, {"--data", data_, "--steps", "60", "--learning-rate", "0.03"});
    ASSERT_FALSE(run.is_null());
    const double first = run["losses"].front(), last = run["losses"].back();
    EXPECT_NEAR(first, std::log(5), 1) << "nothing is learned yet: about ln 5";
    EXPECT_LT(last, 0.5 * first);
    EXPECT_GT(waited(run), Seconds{}) << "taking a batch takes time";
}

TEST_F(ExecutorData, LearnsFromSequencesOnSeveralRanks) {
    make({"--samples", "64", "--size", "40", "--classes", "5", "--format", "lmdb"});
    const json run = train(transformer(true), {{"dp", 2}}, {"--data", data_, "--steps", "30"});
    ASSERT_FALSE(run.is_null());
    EXPECT_LT(run["losses"].back().get<double>(), 0.8 * run["losses"].front().get<double>());
}

TEST_F(ExecutorData, EndsOnAllRanksWithTheNameOfADamagedSample) {
    make({"--samples", "32", "--size", "8x8x3", "--classes", "5"});
    fs::path victim;
    for (const auto& e : fs::recursive_directory_iterator(data_))
        if (e.path().filename() == "00000017.jpg") victim = e.path();
    fs::resize_file(victim, 100);
    const std::vector<std::string> words = {"--data", data_, "--steps", "20", "--out", stem_ + ".out"};
    const ProcessResult failed = start(small_images(), {{"dp", 2}}, 2, words);
    EXPECT_EQ(failed.exit_code, 2);
    EXPECT_THAT(failed.err, AllOf(HasSubstr(victim.string() + ": it is no whole JPEG"), HasSubstr("forward")));
    std::vector<std::string> skipping = words;
    skipping.insert(skipping.end(), {"--bad-samples", "skip"});
    const ProcessResult skipped = start(small_images(), {{"dp", 2}}, 2, skipping);
    EXPECT_EQ(skipped.exit_code, 0) << skipped.err;
    EXPECT_THAT(skipped.err, HasSubstr("skipped " + victim.string()));
}

TEST_F(ExecutorData, IsRefusedWhereItDoesNotFitTheNetworkOrThePlan) {
    make({"--samples", "32", "--size", "8x8x1", "--classes", "5"});
    EXPECT_THAT(start(small_images(), json::object(), 1, {"--data", data_}).err,
                HasSubstr("its samples are 8x8x1, and the network reads images of 3 channels"));
    EXPECT_THAT(start(small_images(), {{"pp", 2}}, 2, {"--data", data_}).err, HasSubstr("a pipeline is not fed from a dataset"));
    EXPECT_EQ(start(small_images(), json::object(), 1, {"--data", "/no/such/file"}).exit_code, 2);
}

}  // namespace
}  // namespace sextant
