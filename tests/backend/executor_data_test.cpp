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
    void make(std::vector<std::string> words) const {
        words.insert(words.begin(), {"data", "make", data_});
        const ProcessResult r = run_sextant(words);
        ASSERT_EQ(r.exit_code, 0) << r.err;
    }

    const std::string data_ = stem_ + ".data";
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
    const std::vector<std::string> words = {"--data", data_, "--steps", "20", "--out", stem_ + ".out"};
    const auto expect = [&](const std::string& problem) {
        EXPECT_THAT(start(small_images(), {{"dp", 2}}, 2, words),
                    exits_with(2, AllOf(HasSubstr(victim.string() + problem), HasSubstr("forward"))));
        std::vector<std::string> skipping = words;
        skipping.insert(skipping.end(), {"--bad-samples", "skip"});
        const ProcessResult skipped = start(small_images(), {{"dp", 2}}, 2, skipping);
        EXPECT_EQ(skipped.exit_code, 0) << skipped.err;
        EXPECT_THAT(skipped.err, HasSubstr("skipped " + victim.string()));
    };
    fs::resize_file(victim, 100);
    expect(": it is no whole JPEG");
    fs::remove(victim);
    fs::create_symlink("nowhere", victim);
    expect(": it cannot be opened: No such file");
}

TEST_F(ExecutorData, IsRefusedWhereItDoesNotFitTheNetwork) {
    make({"--samples", "32", "--size", "8x8x1", "--classes", "5"});
    EXPECT_THAT(start(small_images(), json::object(), 1, {"--data", data_}).err,
                HasSubstr("its samples are 8x8x1, and the network reads images of 3 channels"));
    EXPECT_EQ(start(small_images(), json::object(), 1, {"--data", "/no/such/file"}).exit_code, 2);
    make({"--samples", "32", "--size", "8x8x3", "--classes", "1000"});
    EXPECT_THAT(start(small_images(), json::object(), 1, {"--data", data_}).err,
                AllOf(HasSubstr(data_ + ": sample "), HasSubstr(" has the label ")));
    json of_pixels = small_images();
    of_pixels["chain"]["layers"].erase(3);
    of_pixels["chain"]["per_pixel"] = true;
    EXPECT_THAT(start(of_pixels, json::object(), 1, {"--data", data_}).err, HasSubstr("the network wants one for each pixel"));
}

// Every plan sees the samples that one rank sees, in another order at most: with one batch an epoch in the same.
TEST_F(ExecutorData, FeedsPipelinesAndGroupsAndServersTheSameSamples) {
    make({"--samples", "8", "--size", "40", "--classes", "5", "--format", "npy"});
    const std::vector<std::string> words{"--data", data_, "--steps", "4"};
    const json alone = train(transformer(false), {{"micro_batch", 8}}, words);
    ASSERT_FALSE(alone.is_null());
    for (const json& plan :
         {json{{"micro_batch", 8}, {"tp", 2}}, json{{"micro_batch", 8}, {"pp", 2}}, json{{"micro_batch", 8}, {"tp", 2}, {"pp", 2}},
          json{{"micro_batch", 8}, {"pp", 2}, {"schedule", "zero_bubble_v"}}, json{{"micro_batch", 8}, {"cp", 2}, {"tp", 2}, {"pp", 2}},
          json{{"micro_batch", 8}, {"data_parallel", "parameter_server"}}}) {
        const json run = train(transformer(false), plan, words);
        ASSERT_FALSE(run.is_null()) << plan;
        for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(run["losses"][i].get<double>(), alone["losses"][i].get<double>(), 1e-4) << plan;
        // The ends of a pipeline read for themselves, which may be on one stage, ranks of tensor and context groups once for all; loaders
        // run ahead of the four steps.
        const double readers = plan.contains("schedule") ? 1 : plan.value("pp", 1);
        EXPECT_GE(run["dataset"]["loaded"].get<double>(), readers * 4 * 8) << plan;
        EXPECT_LE(run["dataset"]["loaded"].get<double>(), readers * (4 + 5) * 8) << plan;
    }
}

TEST_F(ExecutorData, SkipsTheSameSamplesOnAllStages) {
    make({"--samples", "16", "--size", "8x8x3", "--classes", "5"});
    for (const auto& e : fs::recursive_directory_iterator(data_))
        if (e.path().filename() == "00000011.jpg") fs::resize_file(e.path(), 100);
    const json chain = {{"chain",
                         {{"input_shape", {3, 8, 8}},
                          {"layers", {{{"conv", {{"width", 8}, {"kernel", 3}}}}, {{"activation", "relu"}}, {{"pool", "global_average"}}}},
                          {"classes", 5}}}};
    const json run = train(chain, {{"pp", 2}}, {"--data", data_, "--steps", "6", "--bad-samples", "skip"});
    ASSERT_FALSE(run.is_null());
    EXPECT_EQ(run["dataset"]["skipped"], 1);
    EXPECT_EQ(run["dataset"]["format"], "files");
    const std::vector<std::string> failing{"--data", data_, "--steps", "20"};
    EXPECT_EQ(start(chain, {{"pp", 2}}, 2, failing).exit_code, 2) << "no rank is left waiting";
}

TEST_F(ExecutorData, StagesTheDatasetAndTakesItAwayAgain) {
    make({"--samples", "32", "--size", "8x8x3", "--classes", "5", "--format", "tar", "--encoding", "png"});
    const fs::path near = stem_ + ".near";
    fs::create_directories(near);
    const json run =
        train(small_images(), {{"dp", 2}}, {"--data", data_, "--steps", "3", "--stage", near.string(), "--stage-mode", "untar"});
    ASSERT_FALSE(run.is_null());
    EXPECT_GT(run["dataset"]["staging"]["copy_s"].get<double>(), 0);
    EXPECT_GT(run["dataset"]["staging"]["unpack_s"].get<double>(), 0);
    EXPECT_EQ(run["dataset"]["path"], data_);
    EXPECT_TRUE(fs::is_empty(near));
    fs::remove_all(near);
}

// Launchers number the ranks of a host, or do not: no rank takes their word for it.
TEST_F(ExecutorData, StagesWhateverTheLauncherSaysOfTheRanksOfAHost) {
    make({"--samples", "32", "--size", "8x8x3", "--classes", "5", "--format", "tar", "--encoding", "png"});
    const fs::path near = stem_ + ".near";
    fs::create_directories(near);
    write_scenario(small_images(), {{"dp", 2}});
    const ProcessResult r =
        run_program(SEXTANT_MPIRUN, {"--timeout", "100", "-n", "2", "env", "OMPI_COMM_WORLD_LOCAL_RANK=1", executor_program(),
                                     stem_ + ".json", "--data", data_, "--steps", "1", "--stage", near.string()});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_TRUE(fs::is_empty(near));
    fs::remove_all(near);
}

}  // namespace
}  // namespace sextant
