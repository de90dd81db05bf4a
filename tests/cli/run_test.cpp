// `sextant run` as people use it: it trains for real on this machine, and on several hosts where namespaces can be made.
#include "model/io/profile/processor_info.hpp"
#include "tests/cli/process_json.hpp"
#include "tests/cli/tiny_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <unistd.h>

namespace sextant::trained {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Json = nlohmann::json;
namespace fs = std::filesystem;

class Run : public TinyRun {
protected:
    Run() : TinyRun("one-core-hosts") {}

    [[nodiscard]] ProcessResult run(std::vector<std::string> more) const {
        more.insert(more.begin(), {"run", file("tiny.json")});
        return run_sextant(more);
    }
    // In a shell: a job that would go on for long, with `words` before the name of the program, and `then` once both of its ranks give
    // signs of life: the job is $!, they are $1 and $2.
    [[nodiscard]] ProcessResult run_long(const std::string& words, const std::string& then) const {
        const std::string job = words + " " SEXTANT_BINARY " run " + file("tiny.json") + " --steps 1000000 >/dev/null &";
        constexpr auto wait = R"(
            children() { cat /proc/$1/task/*/children 2>/dev/null; }
            lives() { grep -qsx heartbeat /proc/$1/task/*/comm; }
            for i in $(seq 600); do
                set -- $(children $(children $!))
                lives $1 && lives $2 && break
                sleep 0.1
            done
            )";
        return run_program("sh", {"-c", job + wait + then + "; wait $!"});
    }
};

TEST_F(Run, TrainsAModuleThatPyTorchSaved) {
    const ProcessResult r = run({"--set", "workload=" SEXTANT_SOURCE_DIR "/tests/io/torch_programs/archive.pt2", "--steps", "5"});
    ASSERT_EQ(r.exit_code, 0) << r.err;
    for (const char* part : {"2 ranks on ", "samples/s", "loss "}) EXPECT_THAT(r.out, HasSubstr(part));
}

TEST_F(Run, TrainsAndSaysWhatItMeasured) {
    const ProcessResult r = run({"--steps", "5"});
    ASSERT_EQ(r.exit_code, 0) << r.err;
    for (const char* part :
         {"2 ranks on ", "Open MPI", "step time", "sequences/s", "loss ", "Where the time went", "backward", "optimizer"})
        EXPECT_THAT(r.out, HasSubstr(part));
    EXPECT_THAT(r.err, IsEmpty());
}

TEST_F(Run, SaysWhereRanksShareCoresThatTheirHardwareHasApart) {
    const std::string core = std::to_string(given_processors().front());
    const ProcessResult r = run_program("taskset", {"--cpu-list", core, SEXTANT_BINARY, "run", file("tiny.json"), "--steps", "2"});
    ASSERT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(r.err, "note: 2 ranks share 1 core here, where the scenario's hardware has 2: a step takes longer than predicted\n");
}

TEST_F(Run, TimesEachOperatorWhereItIsAskedTo) {
    const ProcessResult alone = run({"--steps", "3", "--operators"});
    ASSERT_EQ(alone.exit_code, 0) << alone.err;
    EXPECT_THAT(alone.out, HasSubstr("Slowest operators"));
    EXPECT_THAT(alone.out, HasSubstr(" of transformer layer"));
    const ProcessResult compared = run({"--steps", "3", "--operators", "--compare", "--format", "json"});
    ASSERT_EQ(compared.exit_code, 0) << compared.err;
    const Json operators = json_of(compared).at("operators");
    EXPECT_THAT(operators, Not(IsEmpty()));
    for (const Json& o : operators) EXPECT_GT(o["measured_s"].get<double>(), 0) << o;
}

TEST_F(Run, SaysWhatAMachineWithoutAGpuLacks) {
    const ProcessResult r = run({"--backend", "cuda"});
    if (r.exit_code == 0) GTEST_SKIP() << "there is a GPU";
    EXPECT_EQ(r.exit_code, 3);
    EXPECT_THAT(r.err, testing::AnyOf(HasSubstr("no CUDA device"), HasSubstr("-DCMAKE_CUDA_COMPILER=")));
}

TEST_F(Run, KeepsTheRecordAndTheTimelineThatAreAskedFor) {
    const ProcessResult r = run({"--steps", "4", "--out", file("run.json"), "--trace", file("trace.json"), "--set", "plan.dp=1"});
    ASSERT_EQ(r.exit_code, 0) << r.err;
    const Json record = Json::parse(std::ifstream(file("run.json")));
    EXPECT_EQ(record["schema"], "run/1");
    EXPECT_EQ(record["step_times_s"].size(), 4U);
    EXPECT_EQ(record["environment"]["ranks"].size(), 1U);
    EXPECT_EQ(record["overrides"], Json({"plan.dp=1"}));
    EXPECT_TRUE(record["environment"]["libraries"].contains("oneDNN"));
    EXPECT_TRUE(record["environment"]["libraries"].contains("MPI"));
    EXPECT_FALSE(Json::parse(std::ifstream(file("trace.json")))["traceEvents"].empty());
}

TEST_F(Run, ShowsPredictionBesideMeasurement) {
    const ProcessResult text = run({"--steps", "3", "--compare"});
    ASSERT_EQ(text.exit_code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("measured"));
    EXPECT_THAT(text.out, HasSubstr("predicted"));
    const ProcessResult context = run({"--steps", "3", "--compare", "--set", "plan.dp=1", "--set", "plan.cp=2"});
    ASSERT_EQ(context.exit_code, 0) << context.err;
    EXPECT_THAT(context.out, HasSubstr("context communication"));
    // The framework keeps FP32 weights under autocast, whatever the plan's policy says of them.
    const ProcessResult narrow = run({"--steps", "2", "--compare", "--set", "plan.precision=bf16"});
    ASSERT_EQ(narrow.exit_code, 0) << narrow.err;
    // The first layer has no gradient of its input to compute.
    const ProcessResult mlp = run({"--steps", "3", "--compare", "--set", R"(workload={"mlp": {"widths": [64, 128, 10]}})"});
    ASSERT_EQ(mlp.exit_code, 0) << mlp.err;
    EXPECT_THAT(mlp.out, testing::Not(HasSubstr("another workload")));
    const ProcessResult json = run({"--steps", "3", "--compare", "--format", "json"});
    ASSERT_EQ(json.exit_code, 0) << json.err;
    EXPECT_EQ(json_of(json)["schema"], "comparison/1");
}

TEST_F(Run, EndsWithOneWhereAConditionHolds) {
    EXPECT_EQ(run({"--steps", "2", "--compare", "--fail-if", "step_time_ratio > 0"}).exit_code, 1);
    const ProcessResult wrong = run({"--steps", "2", "--compare", "--fail-if", "no_such > 0", "--fail-if", "step_time > 5"});
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_THAT(wrong.out, IsEmpty()) << "nothing is trained";
    EXPECT_THAT(wrong.err, testing::AllOf(HasSubstr("no_such"), HasSubstr("step_time > 5")));
}

TEST_F(Run, WritesTheCommandInsteadOfRunningIt) {
    const ProcessResult r = run({"--print-launch", "mpirun", "--out", "/r.json", "--threads", "2", "--set", "plan.dp=1"});
    ASSERT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("mpirun -n 1 "));
    EXPECT_THAT(r.out, HasSubstr("sextant-exec-cpu " + file("tiny.json") + " --set plan.dp=1"));
    EXPECT_THAT(r.out, HasSubstr("--threads 2 --out /r.json\n"));
    const ProcessResult script = run({"--print-launch", "slurm"});
    EXPECT_THAT(script.out, HasSubstr("#SBATCH --nodes=2\n#SBATCH --ntasks=2\n#SBATCH --ntasks-per-node=1\n"));
    EXPECT_THAT(script.out, HasSubstr("exec srun --ntasks 2 "));
}

// Hosts of two cores. Four ranks in turn are on hosts 0, 1, 0, 1; one and two on 0, 1, 1; four, and a server beside the workers of each of
// two hosts, on 0, 0, 1, 1 and 0, 1.
TEST_F(Run, PutsRanksOnHostsAsThePlanHasThemOnNodes) {
    std::ofstream(file("hosts")) << "# ours\nn1 slots=1\n\nn2\nn1\nn3\n";
    const auto command = [&](std::vector<std::string> plan, const char* launcher = "mpirun") {
        plan.insert(plan.end(), {"--hostfile", file("hosts"), "--print-launch", launcher, "--set", "hardware.cluster_nodes=2", "--set",
                                 "hardware.ranks_per_device=2"});
        return run(plan);
    };
    const std::vector<std::string> scattered{"--set", "plan.dp=4", "--set", "plan.scattered=true"},
        uneven{"--set", "plan.dp=3", "--set", "plan.global_batch=6", "--set", "hardware.devices_per_node=1,2"},
        served{"--set", "plan.dp=4", "--set", "plan.data_parallel=parameter_server", "--set", "plan.servers_on_workers=true"};
    EXPECT_THAT(command({"--set", "plan.dp=4"}).out, HasSubstr("--hostfile " + file("hosts") + " --map-by ppr:2:node "));
    EXPECT_THAT(command(scattered).out, HasSubstr(" --host n1,n2,n1,n2 --map-by seq "));
    EXPECT_THAT(command(uneven).out, HasSubstr(" --host n1,n2,n2 --map-by seq "));
    EXPECT_THAT(command(served).out, HasSubstr(" --host n1,n1,n2,n2,n1,n2 --map-by seq "));
    EXPECT_THAT(command(scattered, "slurm").out, HasSubstr("--nodes=2\n#SBATCH --ntasks=4\n#SBATCH --ntasks-per-node=2\n"));
    EXPECT_THAT(command(scattered, "slurm").out, HasSubstr(" --distribution=cyclic "));
    EXPECT_THAT(command(uneven, "slurm"), exits_with(2, HasSubstr("/plan: srun fills one node after the other")));
    EXPECT_THAT(run({"--hostfile", file("hosts"), "--set", "plan.dp=4", "--set", "plan.global_batch=8"}),
                exits_with(2, HasSubstr("it names 3 hosts, and the plan has ranks on 4")));
}

TEST_F(Run, SaysBeforeItStartsWhatDoesNotRun) {
    EXPECT_THAT(run({"--set", "plan.offload=optimizer", "--out", file("run.json")}),
                exits_with(2, HasSubstr("/plan/offload: a rank on cores has no memory but its host's")));
    EXPECT_FALSE(fs::exists(file("run.json")));
    EXPECT_EQ(run({"--set", "plan.dp=3"}).exit_code, 2);
    EXPECT_EQ(run({"--steps", "0"}).exit_code, 2);
    EXPECT_THAT(run({"--steps", "1", "--out", file("tiny.json")}), exits_with(2, HasSubstr("would be written over")));
    EXPECT_EQ(run({"--seed", "-1"}).exit_code, 2);
    EXPECT_THAT(run({"--hostfile", "/no/such/hosts"}), exits_with(2, HasSubstr("no such file")));
    EXPECT_THAT(run({"--hostfile", "/tmp"}), exits_with(2, HasSubstr("--hostfile /tmp: it is a directory")));
    EXPECT_THAT(run({"--hostfile", "/dev/zero"}).err, HasSubstr("--hostfile /dev/zero: it is no regular file"));
    for (const char* rate : {"nan", "inf", "0", "-1", "fast"}) {
        const ProcessResult odd = run({"--steps", "1", "--learning-rate", rate});
        EXPECT_EQ(odd.exit_code, 2) << rate;
        EXPECT_THAT(odd.err, HasSubstr("is no number above zero"));
    }
}

TEST_F(Run, RefusesATraceItCouldNotWriteBeforeItTrains) {
    EXPECT_THAT(run({"--steps", "2", "--out", file("run.json"), "--trace", file("trace.txt")}),
                exits_with(2, HasSubstr("FILE.h5 for columns")));
    EXPECT_EQ(run({"--steps", "2", "--out", file("run.json"), "--compare", "--trace", file("trace.h5")}).exit_code, 2);
    EXPECT_FALSE(fs::exists(file("run.json"))) << "it was trained";
}

TEST_F(Run, TellsWhyTheMachineRefused) {
    EXPECT_THAT(run({"--out", "/no/such/folder/run.json"}), exits_with(3, HasSubstr("/no/such/folder/run.json")));
    EXPECT_THAT(run({"--steps", "1", "--threads", "100000"}), exits_with(3, HasSubstr("threads on")));
}

// 12 x 8000 layers x 4096^2 weights of 16 bytes with gradient and states of Adam: 26 TB. mpirun would add that ranks have ended.
TEST_F(Run, SaysAloneThatAPlanDoesNotFit) {
    const ProcessResult r = run({"--steps", "1", "--set", "workload.transformer.layers=8000", "--set", "workload.transformer.hidden=4096"});
    EXPECT_EQ(r.exit_code, 4);
    EXPECT_THAT(r.err, testing::StartsWith(file("tiny.json") + ": the plan does not fit in memory"));
    EXPECT_EQ(std::ranges::count(r.err, '\n'), 1) << r.err;
}

// Open MPI leaves the memory that ranks share where one is killed.
TEST_F(Run, LeavesNothingOfAKilledRank) {
    // Once what it is known by was heard.
    const ProcessResult r = run_long("", "sleep 2; grep -o -m 1 '/dev/shm/sextant-.*' /proc/$2/maps; kill -9 $2");
    EXPECT_EQ(r.exit_code, 3);
    ASSERT_THAT(r.out, testing::StartsWith("/dev/shm/sextant-"));
    EXPECT_THAT(r.err, testing::AllOf(HasSubstr("is gone: it was killed"), testing::EndsWith("mpirun ended with 137\n"),
                                      Not(HasSubstr("mpirun noticed"))));
    EXPECT_FALSE(fs::exists(fs::path(r.out).parent_path())) << r.out;
}

// As Ctrl-C does: the ranks end, what was put aside goes, and the shell sees the signal.
TEST_F(Run, EndsByTheSignalThatInterruptsIt) {
    const std::string folder = file("scratch");
    fs::create_directories(folder);
    for (const auto& [name, number] : {std::pair("INT", SIGINT), std::pair("TERM", SIGTERM)}) {
        const ProcessResult r = run_long("TMPDIR=" + folder, std::string("kill -") + name + " $!");
        EXPECT_EQ(r.exit_code, 128 + number) << r.err;
        EXPECT_THAT(r.err, Not(HasSubstr("the machine refused")));
        for (const fs::directory_entry& left : fs::directory_iterator(folder))
            EXPECT_THAT(left.path().filename().string(), Not(testing::StartsWith("sextant-")));
    }
}

// Ranks outlive an mpirun that ends at once, and go on writing. Here a script in its place leaves such a rank for sure.
TEST_F(Run, LeavesNothingOfRanksThatOutliveMpirun) {
    const std::string scratch = file("scratch"), bin = file("bin");
    for (const std::string& folder : {scratch, bin}) fs::create_directories(folder);
    std::ofstream(bin + "/mpirun") << "#!/bin/sh\n[ \"$2\" = orte_tmpdir_base ] || exit 9\n"
                                      "(exec >/dev/null 2>&1; sleep 0.5; mkdir -p \"$3/of/a/rank\"; sleep 0.5) &\nexit 1\n";
    fs::permissions(bin + "/mpirun", fs::perms::owner_all);
    const ProcessResult r =
        run_program("sh", {"-c", "TMPDIR=" + scratch + " PATH=" + bin + ":$PATH " SEXTANT_BINARY " run " + file("tiny.json")});
    EXPECT_EQ(r.exit_code, 3) << r.err;
    EXPECT_THAT(r.err, HasSubstr("mpirun ended with 1"));
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    EXPECT_TRUE(fs::is_empty(scratch));
}

TEST_F(Run, SaysWhichFolderForTemporaryFilesIsNone) {
    EXPECT_THAT(run_program("env", {"TMPDIR=/no/such/folder", SEXTANT_BINARY, "run", file("tiny.json"), "--steps", "1"}),
                exits_with(3, HasSubstr("TMPDIR is /no/such/folder")));
}

// mpirun would wait for room for ever.
TEST_F(Run, SaysThatTheFolderForTemporaryFilesIsFull) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can mount a small filesystem";
    fs::create_directories(file("small"));
    if (run_program("mount", {"-t", "tmpfs", "-o", "size=4m", "tmpfs", file("small")}).exit_code != 0)
        GTEST_SKIP() << "a small filesystem cannot be mounted here";
    const ProcessResult r = run_program("env", {"TMPDIR=" + file("small"), SEXTANT_BINARY, "run", file("tiny.json"), "--steps", "1"});
    run_program("umount", {file("small")});
    EXPECT_EQ(r.exit_code, 3);
    EXPECT_THAT(r.err, HasSubstr(file("small") + " has 4 MiB left, and 16 are needed; TMPDIR may name another folder"));
}

// Open MPI keeps the sessions of a user's jobs in TMPDIR/ompi.HOST.UID. A job that finds that made by another in the moment in which it
// makes it fails, as it does where a file has the name.
TEST_F(Run, KeepsItsSessionApartFromOtherJobs) {
    const std::string script = "mkdir " + file("tmp") + " && TMPDIR=" + file("tmp") +
                               " && export TMPDIR && touch $TMPDIR/ompi.$(hostname -s).$(id -u) && " + SEXTANT_BINARY " run " +
                               file("tiny.json") + " --steps 1 && ls $TMPDIR";
    const ProcessResult r = run_program("sh", {"-c", script});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, Not(HasSubstr("sextant-")));  // nothing is left of it
}

// Two hosts: namespaces with names of their own and a link of 200 Mbit/s between them.
TEST_F(Run, RunsOverSeveralHosts) {
    const std::string hosts = SEXTANT_SOURCE_DIR "/scripts/hosts";
    if (::geteuid() != 0) GTEST_SKIP() << "namespaces and limited links need root";
    const ProcessResult probe = run_program(hosts, {"2", "200mbit", "true"});
    if (probe.exit_code != 0) GTEST_SKIP() << "network namespaces cannot be made here: " << probe.err;

    // 640,000 parameters: 2.6 MB of gradients that all cross the link.
    const std::vector<std::string> wide{"--set", "workload.transformer.hidden=128", "--set", "workload.transformer.vocab=1024", "--steps",
                                        "4"};
    std::string there =
        std::string("exec ") + SEXTANT_BINARY + " run " + file("tiny.json") + " --hostfile $HOSTFILE --out " + file("there.json");
    for (const std::string& word : wide) there += " " + word;
    const ProcessResult apart = run_program(hosts, {"2", "200mbit", "sh", "-c", there});
    ASSERT_EQ(apart.exit_code, 0) << apart.err;
    std::vector<std::string> here = wide;
    here.insert(here.end(), {"--out", file("here.json")});
    ASSERT_EQ(run(here).exit_code, 0);

    const Json a = Json::parse(std::ifstream(file("there.json"))), b = Json::parse(std::ifstream(file("here.json")));
    EXPECT_EQ(a["environment"]["ranks"][0]["host"], "host1");
    EXPECT_EQ(a["environment"]["ranks"][1]["host"], "host2");
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(a["losses"][i].get<double>(), b["losses"][i].get<double>(), 1e-5);
    // No exchange is faster than the link: all the gradients go each way, less what the token bucket lets through at once (256 kB).
    double bytes = 0, seconds = 0;
    const Json& spans = a["trace"]["spans"];
    for (std::size_t i = 0; i < spans["kind"].size(); ++i)
        if (spans["kind"][i] == "data_exchange" && spans["rank"][i] == 0) {
            bytes += spans["bytes"][i].get<double>();
            seconds += spans["end_s"][i].get<double>() - spans["start_s"][i].get<double>();
        }
    EXPECT_GT(bytes, 2e6);
    EXPECT_GT(seconds, (bytes - 256e3) / 25e6);
}

// Three ranks, of which the first has a host to itself.
TEST_F(Run, PutsUnlikeNumbersOfRanksOnHosts) {
    const std::string hosts = SEXTANT_SOURCE_DIR "/scripts/hosts";
    if (::geteuid() != 0) GTEST_SKIP() << "namespaces and limited links need root";
    const ProcessResult probe = run_program(hosts, {"2", "200mbit", "true"});
    if (probe.exit_code != 0) GTEST_SKIP() << "network namespaces cannot be made here: " << probe.err;
    const std::string there = std::string("exec ") + SEXTANT_BINARY + " run " + file("tiny.json") + " --hostfile $HOSTFILE --out " +
                              file("there.json") + " --steps 2 --set plan.dp=3 --set plan.global_batch=6" +
                              " --set hardware.ranks_per_device=2 --set hardware.devices_per_node=1,2";
    const ProcessResult apart = run_program(hosts, {"2", "200mbit", "sh", "-c", there});
    ASSERT_EQ(apart.exit_code, 0) << apart.err;
    const Json record = Json::parse(std::ifstream(file("there.json")));
    std::vector<std::string> where;
    for (const Json& rank : record["environment"]["ranks"]) where.push_back(rank["host"]);
    EXPECT_THAT(where, testing::ElementsAre("host1", "host2", "host2"));
}

}  // namespace
}  // namespace sextant::trained
