// Training from a network filesystem that is slow in fact, with and without staging to the local disk.
#include "tests/cli/process_json.hpp"
#include "tests/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// 200 pictures of 30 KB, read four times over a link of 40 Mbit/s, 5 MB/s: 4 x 1.2 s, or once and then from the local disk.
class SlowFolder : public TemporaryFolder {
protected:
    static constexpr auto rate = "40mbit";
    static constexpr double megabytes = 200 * 0.03, seconds_over_the_link = megabytes / 5, epochs = 8;

    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "namespaces, limited links and mounts need root";
        if (!fs::exists(fs::path(SEXTANT_BINARY).parent_path() / "sextant-exec-cpu")) GTEST_SKIP() << "built without oneDNN and MPI";
        for (const char* inside : {"far", "near"}) fs::create_directories(folder_ / inside);
        const ProcessResult probe = run_program(slow_folder_, {rate, file("far"), "true"});
        if (probe.exit_code != 0) GTEST_SKIP() << "no network filesystem can be mounted here: " << probe.err;
        ASSERT_EQ(run_sextant({"data", "make", file("far/d"), "--samples", "200", "--size", "100x100x3", "--encoding", "raw"}).exit_code,
                  0);
        write("far.json", {{"name", "far"},
                           {"type", "nfs"},
                           {"open_latency", "0.81 ms"},  // as sextant calibrate --storage found of such a folder, on 2026-11-22
                           {"seek_latency", "0.65 ms"},
                           {"read_bandwidth", "4.8 MB/s"},
                           {"client_read_bandwidth", "4.8 MB/s"}});
        write("near.json", {{"name", "near"}, {"type", "ssd"}, {"read_bandwidth", "500 MB/s"}, {"write_bandwidth", "300 MB/s"}});
        const Json layers = {{{"conv", {{"width", 4}, {"kernel", 3}, {"stride", 4}}}}, {{"pool", "global_average"}}};
        const Json scenario = {
            {"schema", "scenario/1"},
            {"name", "slow"},
            {"workload", {{"chain", {{"input_shape", {3, 100, 100}}, {"layers", layers}, {"classes", 10}}}}},
            {"hardware", {{"cluster", "two-core-reference"}}},
            {"plan", {{"dp", 1}, {"micro_batch", 20}, {"global_batch", 20}, {"precision", "fp32"}, {"optimizer", "sgd"}}},
            {"framework", "sextant"},
            {"data", {{"storage", file("far.json")}, {"sample_size", "30 KB"}, {"samples", 200}, {"workers", 2}}},
            {"run", {{"epochs", epochs}}}};
        std::ofstream(file("scenario.json")) << scenario;
    }

    void write(const char* name, Json storage) const {
        storage["kind"] = "estimated";
        storage["source"] = "this test";
        storage["schema"] = "storage/1";
        std::ofstream(file(name)) << storage;
    }

    struct Times {
        double staging = 0, all = 0;  // s, of all epochs
    };
    // Without staging nothing of what sshfs read stays in memory.
    [[nodiscard]] Times predicted(const std::vector<std::string>& words) const {
        std::vector<std::string> all{"predict", file("scenario.json"), "--format", "json"};
        all.insert(all.end(), words.begin(), words.end());
        const ProcessResult r = run_sextant(all);
        EXPECT_EQ(r.exit_code, 0) << r.err;
        const Json run = json_of(r).at("run");
        return {run.value("staging_s", 0.0), run["time_s"]};
    }
    [[nodiscard]] Times measured(const std::string& words) {
        const std::string plain = "a=$(date +%s%N); find $REMOTE/d -type f -exec cat {} + >/dev/null; b=$(date +%s%N); echo $((b - a)) >>" +
                                  file("plain_reads_ns") + "; ";
        const std::string run = std::string(SEXTANT_BINARY) + " run " + file("scenario.json") + " --data $REMOTE/d --steps 80 --out " +
                                file("run.json") + " " + words;
        const ProcessResult r = run_program(slow_folder_, {rate, file("far"), "sh", "-c", plain + run + " || exit 1; " + plain});
        EXPECT_EQ(r.exit_code, 0) << r.err;
        std::ifstream plain_reads(file("plain_reads_ns"));
        for (double ns; plain_reads >> ns;) slowest_plain_read_s_ = std::max(slowest_plain_read_s_, ns * 1e-9);
        const Json record = Json::parse(std::ifstream(file("run.json")));
        Times t;
        for (const Json& part : record["dataset"].value("staging", Json::object())) t.staging += part.get<double>();
        t.all = t.staging;
        for (const Json& step : record["step_times_s"]) t.all += step.get<double>();
        return t;
    }

    double slowest_plain_read_s_ = 0;  // of all pictures, one after the other, by `cat` before and after each run
    const std::string slow_folder_ = SEXTANT_SOURCE_DIR "/scripts/slow-folder";
};

TEST_F(SlowFolder, IsWorthStagingFromInRealityAndPrediction) {
    const Times from_afar = measured(""), staged = measured("--stage " + file("near"));
    // Each read goes through five processes, so what else the machine does slows it: 60 ms have been seen for what takes 6.
    const double expected_plain_read_s = seconds_over_the_link + 200 * 0.81e-3;
    if (slowest_plain_read_s_ > 1.3 * expected_plain_read_s)
        GTEST_SKIP() << "this machine is too busy to hold the rate of the link: reading all pictures took " << slowest_plain_read_s_
                     << " s, not " << expected_plain_read_s;
    EXPECT_GT(from_afar.all, 0.9 * epochs * seconds_over_the_link) << "the link holds its rate";
    EXPECT_LT(staged.all, 0.8 * from_afar.all);
    const Times predicted_afar = predicted({"--set", "data.page_cache=0 B"});
    const Times predicted_staged = predicted({"--set", R"(data.staging={"mode": "copy", "to": ")" + file("near.json") + R"("})"});
    EXPECT_LT(predicted_staged.all, 0.8 * predicted_afar.all);
    EXPECT_NEAR(predicted_afar.all / from_afar.all, 1, 0.25);
    // Of what is staged the copy alone: the steps behind it take a tenth of a second, or as long as the machine is busy with something
    // else.
    EXPECT_NEAR(predicted_staged.staging / staged.staging, 1, 0.4);
    std::cout << "    from afar: predicted " << predicted_afar.all << " s, measured " << from_afar.all << " s; staged: predicted "
              << predicted_staged.all << " s, of which copying " << predicted_staged.staging << " s, measured " << staged.all << " and "
              << staged.staging << " s; read by cat: at most " << slowest_plain_read_s_ << " s\n";
}

}  // namespace
}  // namespace sextant
