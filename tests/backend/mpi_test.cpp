#include "tests/backend/mpi_test.hpp"

#include "backend/exec/memory_check.hpp"
#include "model/sextant.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sextant {
namespace {

void expect_same(const json& serial, const json& found, double of_losses, double of_weights) {
    for (const char* losses : {"losses", "mtp_losses"}) {
        ASSERT_EQ(found.contains(losses), serial.contains(losses));
        if (!serial.contains(losses)) continue;
        ASSERT_EQ(found[losses].size(), 3U);
        for (std::size_t i = 0; i < 3; ++i)
            EXPECT_NEAR(found[losses][i].get<double>(), serial[losses][i].get<double>(), of_losses) << losses << ", step " << i;
    }
    ASSERT_EQ(found["parameters"].size(), serial["parameters"].size());
    for (std::size_t i = 0; i < serial["parameters"].size(); ++i) {
        const json &a = serial["parameters"][i], &b = found["parameters"][i];
        const double norm = a["norm"].get<double>();
        EXPECT_NEAR(b["norm"].get<double>(), norm, of_weights * (norm + 0.01)) << a;
        EXPECT_NEAR(b["product"].get<double>(), a["product"].get<double>(), of_weights * (norm + 0.01)) << a;
    }
}

}  // namespace

void MpiTest::SetUp() {
    if (std::string(SEXTANT_MPIRUN).ends_with("NOTFOUND")) GTEST_SKIP() << "mpirun is not installed";
    // Open MPI: as root in a container, more ranks than cores, none of them bound to one, and those that wait give way to others.
    for (const char* name :
         {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_mpi_yield_when_idle"})
        ::setenv(name, "1", 1);
    ::setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
    ::setenv("OMPI_MCA_odls_base_sigkill_timeout", "0", 1);  // mpirun waits a second for the others where one rank fails
    ::unsetenv("OMP_NUM_THREADS");
    TemporaryFolder::SetUp();
    // Two that start at once and make the same folder for their sessions get in each other's way: Open MPI 4.1 fails when it is there after
    // all.
    ::setenv("OMPI_MCA_orte_tmpdir_base", (stem_ + ".mpi").c_str(), 1);
}

void MpiTest::TearDown() {
    // `sextant run` would take them for the user's own.
    for (const char* name : {"OMPI_MCA_orte_tmpdir_base", "OMPI_MCA_odls_base_sigkill_timeout"}) ::unsetenv(name);
    TemporaryFolder::TearDown();
}

void MpiTest::write_scenario(const json& workload, const json& plan) const {
    json all{{"dp", 1}, {"micro_batch", 2}, {"global_batch", 8}, {"precision", "fp32"}, {"optimizer", "momentum"}};
    all.update(plan);
    std::ofstream(stem_ + ".json") << json{
        {"schema", "scenario/1"}, {"name", "small"}, {"workload", workload}, {"hardware", {{"cluster", "cpu-cluster"}}}, {"plan", all},
        {"framework", framework_}};
}

ProcessResult MpiTest::start(const json& workload, const json& plan, int ranks, std::vector<std::string> arguments) const {
    write_scenario(workload, plan);
    std::vector<std::string> words{"--timeout", "300", "-n", std::to_string(ranks)};
    words.insert(words.end(), through_.begin(), through_.end());
    words.insert(words.end(), {executor_program(), stem_ + ".json"});
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_program(SEXTANT_MPIRUN, words);
}

json MpiTest::train(const json& workload, const json& plan, std::vector<std::string> arguments) const {
    const bool served = plan.value("data_parallel", "").ends_with("parameter_server");
    int ranks = served ? plan.value("parameter_servers", 1) : 0;
    ranks += plan.value("dp", 1) * plan.value("tp", 1) * plan.value("pp", 1) * plan.value("cp", 1);
    arguments.insert(arguments.end(), {"--parameters", "--out", stem_ + ".run"});
    std::filesystem::remove(stem_ + ".run");
    const ProcessResult result = start(workload, plan, ranks, std::move(arguments));
    EXPECT_EQ(result.exit_code, 0) << plan << result.err;
    return result.exit_code == 0 ? json::parse(std::ifstream(stem_ + ".run")) : json();
}

void MpiTest::expect_serial_results(const json& workload, const std::vector<json>& plans, const json& alone,
                                    const std::vector<std::string>& arguments) const {
    static std::map<std::string, json> alone_before;  // tests of one process often compare with the same job
    const std::string job = json{workload, alone, arguments, framework_, through_}.dump();
    if (!alone_before.contains(job)) alone_before[job] = train(workload, alone, arguments);
    const json& serial = alone_before[job];
    for (const json& plan : plans) {
        SCOPED_TRACE(plan.dump());
        const json found = train(workload, plan, arguments);
        if (found.is_null()) continue;
        expect_same(serial, found, loss_tolerance_, weight_tolerance_);
    }
}

MpiTest::SpansByKind MpiTest::spans_of(const json& run) {
    SpansByKind sums;
    const json& spans = run["trace"]["spans"];
    for (std::size_t i = 0; i < spans["kind"].size(); ++i) {
        SpanSums& of_kind = sums[spans["kind"][i]];
        of_kind.count += 1;
        of_kind.bytes += spans["bytes"][i].get<double>();
    }
    return sums;
}

MpiTest::SpansByKind MpiTest::predicted_spans() const {
    Library library = open_library();
    const SimulationReport played = simulate(load_scenario(library, stem_ + ".json"));
    SpansByKind sums;
    for (const Span& s : played.trace.spans) {
        SpanSums& of_kind = sums[std::string(to_text(s.kind))];
        const double ranks = played.trace.ranks[s.rank].multiplicity;
        of_kind.count += ranks;
        of_kind.bytes += ranks * s.bytes.si();
    }
    return sums;
}

std::vector<double> MpiTest::peaks_of(const json& run) {
    std::vector<double> peaks;
    for (const json& rank : run["environment"]["ranks"]) peaks.push_back(rank["peak_memory_bytes"].get<double>());
    return peaks;
}

std::vector<double> MpiTest::predicted_peaks() const {
    Library library = open_library();
    std::vector<double> peaks;
    for (const Bytes b : sextant::predicted_peaks(load_scenario(library, stem_ + ".json"))) peaks.push_back(b.si());
    return peaks;
}

json transformer(bool tied) {
    return {{"transformer",
             {{"layers", 4}, {"hidden", 32}, {"heads", 4}, {"vocab", 64}, {"seq_len", 16}, {"dropout", true}, {"tied_embeddings", tied}}}};
}
json perceptron() { return {{"mlp", {{"widths", {16, 32, 32, 10}}}}}; }
}  // namespace sextant
