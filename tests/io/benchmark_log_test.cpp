// Logs of nccl-tests, of OSU and of nvidia-smi: fixtures in their formats, made for these tests.
#include "model/io/calibration/benchmark_log.hpp"
#include "model/io/calibration/gpu_topology.hpp"
#include "model/io/calibration/step_times.hpp"
#include "model/io/profile/profile_reader.hpp"
#include "model/sextant.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace sextant {
namespace {

using namespace units;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string logs = std::string(SEXTANT_SOURCE_DIR) + "/tests/io/logs/";

std::string text_of(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(logs + name, std::ios::binary).rdbuf();
    return text.str();
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

std::vector<BenchmarkCurve> nccl(const std::string& text, const std::string& name = "log.txt") {
    Diagnostics problems;
    std::vector<BenchmarkCurve> curves = read_nccl_tests(text, name, problems);
    problems.throw_if_any();
    return curves;
}
std::vector<BenchmarkCurve> osu(const std::string& text) {
    Diagnostics problems;
    std::vector<BenchmarkCurve> curves = read_osu(text, "log.txt", problems);
    problems.throw_if_any();
    return curves;
}
template <class Read>
std::vector<std::string> problems_of(Read read, const std::string& text) {
    Diagnostics problems;
    read(text, "log.txt", problems);
    std::vector<std::string> list;
    for (const Diagnostic& d : problems.list()) list.push_back(d.file + ": " + d.what);
    return list;
}

TEST(NcclTestsLog, SaysWhoTookPartAndHowLongEachMessageTook) {
    const std::vector<BenchmarkCurve> curves = nccl(text_of("nccl_all_reduce_two_hosts.txt"));
    ASSERT_EQ(curves.size(), 1u);
    const BenchmarkCurve& c = curves[0];
    EXPECT_EQ(c.collective, "all_reduce");
    EXPECT_EQ(c.ranks, 16);
    EXPECT_EQ(c.nodes, 2);
    EXPECT_EQ(c.ranks_of_process, 1);
    EXPECT_EQ(c.device, "NVIDIA A100-SXM4-40GB");
    EXPECT_EQ(c.library, "NCCL 2.18.3");
    EXPECT_FALSE(c.host_buffers);
    ASSERT_EQ(c.points.size(), 10u);
    EXPECT_EQ(c.points[5].size, 1 * MiB);
    EXPECT_NEAR(c.points[5].time / us, 132.70, 0.001);  // its row, column "time"
}

// All-reduce counts 2 (n - 1) / n bytes on the bus for each of the message, reduce-scatter (n - 1) / n; their columns are the same.
TEST(NcclTestsLog, TellsAReduceScatterFromAnAllReduceByItsBusBandwidth) {
    EXPECT_EQ(nccl(text_of("nccl_reduce_scatter.txt"))[0].collective, "reduce_scatter");
}

TEST(NcclTestsLog, TakesTheNameOfTheFileWhereColumnsLeaveTwo) {
    std::string text = text_of("nccl_all_reduce.txt");
    for (std::size_t at = 0; (at = text.find(" sum", at)) != std::string::npos;) text.replace(at, 4, "none");
    EXPECT_EQ(nccl(text, "runs/alltoall-8.log")[0].collective, "all_to_all");
    EXPECT_EQ(nccl(text, "runs/all_gather.log")[0].collective, "all_gather");
    EXPECT_EQ(nccl("# Collective test starting: sendrecv_perf\n" + text)[0].collective, "send");
    EXPECT_THAT(problems_of(read_nccl_tests, text), ElementsAre(HasSubstr("log.txt:15: the table does not say which collective")));
}

// A broadcast counts each byte of the message once on the bus, a gather and a scatter those of the n - 1 others.
TEST(NcclTestsLog, RefusesCollectivesThatItDoesNotKnow) {
    const auto rooted = [](std::string_view begin, std::string_view bus) {
        std::string text(begin);
        for (const char* rank : {"0", "1"})
            text += std::string("#  Rank ") + rank + " Pid 7 on made-up device " + rank + " [0x00] NVIDIA L4\n";
        return text +
               "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n" +
               "     1048576        262144     float    none       0    42.10   24.91   " + std::string(bus) +
               "      0    41.90   25.03   25.03      0\n";
    };
    EXPECT_EQ(nccl(rooted("", "24.91"))[0].collective, "broadcast");
    EXPECT_THAT(problems_of(read_nccl_tests, rooted("", "12.45")), ElementsAre(HasSubstr("a gather or a scatter is not read")));
    EXPECT_THAT(problems_of(read_nccl_tests, rooted("# Collective test starting: gather_perf\n", "24.91")),
                ElementsAre(HasSubstr("gather_perf is not read")));
}

TEST(NcclTestsLog, ReadsOldTablesAndTagsOfMpirun) {
    const std::string old =
        "[1,0]<stdout>:# nThread 1 nGpus 2 minBytes 1048576 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 validation: 1\n"
        "[1,0]<stdout>:# Using devices\n"
        "[1,0]<stdout>:#   Rank  0 Pid   1320 on made-up device  0 [0x00] Tesla V100-SXM2-16GB\n"
        "[1,0]<stdout>:#   Rank  1 Pid   1320 on made-up device  1 [0x00] Tesla V100-SXM2-16GB\n"
        "[1,0]<stdout>:#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n"
        "[1,0]<stdout>:     1048576        262144   float     sum    42.10   24.91   24.91  1e-07    41.90   25.03   25.03  1e-07\n";
    // And of srun --label.
    std::string labelled = old;
    for (std::size_t at = 0; (at = labelled.find("[1,0]<stdout>:", at)) != std::string::npos;) labelled.replace(at, 14, " 0: ");
    // And of a service that keeps logs.
    std::string dated = old;
    for (std::size_t at = 0; (at = dated.find("[1,0]", at)) != std::string::npos; at += 40)
        dated.insert(at, "2024-03-02T10:11:12.1234567Z ");
    for (const std::string& log : {old, labelled, dated}) {
        const BenchmarkCurve c = nccl(log)[0];
        EXPECT_EQ(c.ranks_of_process, 2);
        EXPECT_EQ(c.device, "Tesla V100-SXM2-16GB");
        EXPECT_NEAR(c.points[0].time / us, 42.1, 1e-9);
    }
}

TEST(NcclTestsLog, HoldsSeveralRunsAfterOneAnother) {
    EXPECT_EQ(nccl(text_of("nccl_all_reduce.txt") + text_of("nccl_reduce_scatter.txt")).size(), 2u);
}

TEST(NcclTestsLog, SaysEveryProblemWithItsLine) {
    std::string text = text_of("nccl_all_reduce.txt");
    text = replaced(text, "    20.48    0.20    0.35      0    20.01", "      N/A    0.20    0.35      0    20.01");
    text = replaced(text, "0.72    1.27      0    22.11", "0.72    1.27     17    22.11");
    EXPECT_THAT(problems_of(read_nccl_tests, text), ElementsAre("log.txt:18: \"N/A\" is no time", "log.txt:19: 17 wrong results"));
    const std::string whole = text_of("nccl_all_reduce.txt");
    EXPECT_THAT(problems_of(read_nccl_tests, whole.substr(0, whole.find("50.02"))),
                ElementsAre(HasSubstr("log.txt:21: a row of 5 columns: it is cut off")));
    EXPECT_THAT(problems_of(read_nccl_tests, whole.substr(0, whole.find("#       size"))), ElementsAre(HasSubstr("no table of times")));
    EXPECT_THAT(problems_of(read_nccl_tests, whole.substr(whole.find("NCCL version"))), ElementsAre(HasSubstr("\"Rank 0 ... device")));
}

TEST(OsuLog, ReadsLatencyAndLongMessagesOfABandwidth) {
    const BenchmarkCurve latency = osu(text_of("osu_latency.txt"))[0];
    EXPECT_EQ(latency.collective, "send");
    EXPECT_EQ(latency.ranks, 2);
    EXPECT_EQ(latency.nodes, 2);
    EXPECT_TRUE(latency.host_buffers);
    EXPECT_EQ(latency.points.size(), 23u);
    EXPECT_NEAR(latency.points[10].time / us, 38.68, 0.01);
    const BenchmarkCurve bandwidth = osu(text_of("osu_bw.txt"))[0];
    ASSERT_EQ(bandwidth.points.size(), 7u);  // 64 KiB to 4 MiB
    // 64 KiB at the 117.58 MB/s of its row.
    EXPECT_EQ(bandwidth.points[0].size, 64 * KiB);
    EXPECT_NEAR(bandwidth.points[0].time / us, 65536 / 117.58, 0.01);
}

TEST(OsuLog, CountsWhatOneRankSendsToEachAsTheWholeBuffer) {
    const std::string gather = replaced(text_of("osu_allreduce.txt"), "Allreduce", "Allgather");
    EXPECT_EQ(osu(gather)[0].collective, "all_gather");
    EXPECT_EQ(osu(gather)[0].points[0].size, 16 * B);  // 4 bytes of each of 4 ranks
    EXPECT_EQ(osu(text_of("osu_allreduce.txt"))[0].points[0].size, 4 * B);
}

TEST(OsuLog, KnowsBuffersOnDevices) {
    const std::string cuda = replaced(text_of("osu_allreduce.txt"), "OSU MPI ", "OSU MPI-CUDA ");
    EXPECT_FALSE(osu(cuda)[0].host_buffers);
    EXPECT_EQ(osu(cuda)[0].library, "");
    const BenchmarkCurve of_nccl = osu(replaced(text_of("osu_allreduce.txt"), "OSU MPI ", "OSU NCCL-CUDA "))[0];
    EXPECT_FALSE(of_nccl.host_buffers);
    EXPECT_EQ(of_nccl.library, "NCCL");
}

TEST(OsuLog, AsksForTheRanksThatItDoesNotPrint) {
    const std::string text = text_of("osu_allreduce.txt");
    EXPECT_THAT(problems_of(read_osu, text.substr(text.find("# OSU"))), ElementsAre(HasSubstr("does not say how many ranks")));
    EXPECT_THAT(problems_of(read_osu, replaced(text, "nodes 4", "nodes 3")), testing::Contains(HasSubstr("log.txt:1: ")));
    // Of two ranks it is their hosts that count.
    EXPECT_THAT(problems_of(read_osu, text_of("osu_latency.txt").substr(18)), ElementsAre(HasSubstr("does not say how many ranks")));
}

TEST(OsuLog, SaysEveryProblemWithItsLine) {
    const std::string text = text_of("osu_latency.txt");
    EXPECT_THAT(problems_of(read_osu, text.substr(0, text.find("30.02"))), ElementsAre(HasSubstr("log.txt:7: a row without a time")));
    EXPECT_THAT(problems_of(read_osu, replaced(text, "Latency Test", "Get Latency Test")),
                ElementsAre(HasSubstr("this benchmark is not read")));
    EXPECT_THAT(problems_of(read_osu, "# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n"), ElementsAre(HasSubstr("no row")));
}

TEST(GpuTopologyLog, SeesASwitchItsPciePairsAndTheAdaptersBesideThem) {
    Diagnostics problems;
    const GpuTopology t = read_gpu_topology(text_of("topo_nvswitch.txt"), "topo.txt", problems);
    problems.throw_if_any();
    EXPECT_EQ(t.gpus.size(), 8u);
    EXPECT_EQ(t.nvlinks_of_all(), 12);
    EXPECT_EQ(t.gpus_of_switch(), 2);
    EXPECT_THAT(t.compute_nics(), ElementsAre("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"));  // mlx5_4 is beside no GPU
    Library library = open_library();
    Cluster cluster = *find_cluster(library.catalog, "dgx-a100", problems);
    cluster.nodes = 2;
    apply(t, cluster, problems);
    problems.throw_if_any();
    EXPECT_EQ(cluster.node.nics, 4);
    EXPECT_EQ(cluster.node.peers.layout, PeerLayout::crossbar);
}

TEST(GpuTopologyLog, GivesAProfileTheMatrixOfItsLinks) {
    Diagnostics problems;
    const GpuTopology t = read_gpu_topology(text_of("topo_matrix.txt"), "topo.txt", problems);
    EXPECT_EQ(t.nvlinks_of_all(), std::nullopt);
    Library library = open_library();
    Cluster cluster = *find_cluster(library.catalog, "dgx1-v100", problems);
    apply(t, cluster, problems);
    problems.throw_if_any();
    EXPECT_EQ(cluster.node.devices, 4);
    EXPECT_EQ(cluster.node.peers.layout, PeerLayout::matrix);
    EXPECT_EQ(cluster.node.peers.link_count, (std::vector<std::vector<int>>{{0, 1, 1, 2}, {1, 0, 2, 1}, {1, 2, 0, 1}, {2, 1, 1, 0}}));
    Cluster without = *find_cluster(library.catalog, "pcie-8xl40s", problems);
    apply(t, without, problems);
    EXPECT_THAT(problems.list()[0].what, HasSubstr("the devices have NVLinks"));
}

TEST(GpuTopologyLog, SaysWhereATableIsCutOffOrContradictsItself) {
    const std::string text = text_of("topo_nvswitch.txt");
    EXPECT_THAT(problems_of(read_gpu_topology, text.substr(0, text.find("GPU5\tNV12"))), ElementsAre(HasSubstr("5 rows for 8 GPUs")));
    EXPECT_THAT(problems_of(read_gpu_topology, text.substr(0, text.find("PXB\tSYS\tSYS\tSYS\tSYS\t0-15"))),
                testing::Contains(HasSubstr("log.txt:2: the row has 8 paths for 13 columns")));
    const std::string matrix = replaced(text_of("topo_matrix.txt"), "NV2\t X ", "NV1\t X ");
    EXPECT_THAT(problems_of(read_gpu_topology, matrix), ElementsAre(HasSubstr("by NV2, and that one this by NV1")));
}

TEST(StepTimes, AreReadWithTheScenarioTheyAreOf) {
    Diagnostics problems;
    const WrittenSteps t = step_times_from_text(
        R"({"schema": "step-times/1", "scenario": "a.json", "overrides": ["plan.dp=8"], "steps_s": [0.5, 0.25]})", "s.json", problems);
    problems.throw_if_any();
    EXPECT_EQ(t.scenario, "a.json");
    EXPECT_THAT(t.overrides, ElementsAre("plan.dp=8"));
    EXPECT_THAT(t.steps, ElementsAre(0.5 * s, 0.25 * s));
    step_times_from_text(R"({"schema": "step-times/2", "scenaro": "a", "steps_s": [-1]})", "s.json", problems);
    EXPECT_GE(problems.list().size(), 3u);
}

TEST(LogKind, IsSeenFromTheContent) {
    EXPECT_EQ(kind_of_log(text_of("nccl_all_reduce.txt")), LogKind::nccl_tests);
    EXPECT_EQ(kind_of_log(text_of("osu_latency.txt")), LogKind::osu);
    EXPECT_EQ(kind_of_log(text_of("topo_matrix.txt")), LogKind::gpu_topology);
    EXPECT_EQ(kind_of_log(" \n{"), LogKind::json);
    EXPECT_EQ(kind_of_log("hello"), LogKind::unknown);
    EXPECT_EQ(kind_of_log(""), LogKind::unknown);
}

}  // namespace
}  // namespace sextant
