#include "tests/backend/mpi_test.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace sextant {

void MpiTest::SetUp() {
    if (std::string(SEXTANT_MPIRUN).ends_with("NOTFOUND")) GTEST_SKIP() << "mpirun is not installed";
    // Open MPI: as root in a container, more ranks than cores, none of them bound to one.
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"})
        ::setenv(name, "1", 1);
    ::setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
    stem_ = testing::TempDir() + "sextant_executor_" + std::to_string(::getpid());
}

void MpiTest::TearDown() {
    for (const char* ending : {".json", ".run", ".out", ".err"}) std::filesystem::remove(stem_ + ending);
}

void MpiTest::write_scenario(const json& workload, const json& plan) const {
    json all{{"dp", 1}, {"micro_batch", 2}, {"global_batch", 8}, {"precision", "fp32"}, {"optimizer", "momentum"}};
    all.update(plan);
    std::ofstream(stem_ + ".json") << json{
        {"schema", "scenario/1"}, {"name", "small"}, {"workload", workload}, {"hardware", {{"cluster", "cpu-cluster"}}}, {"plan", all},
        {"framework", framework_}};
}

}  // namespace sextant
