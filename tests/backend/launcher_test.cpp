#include "backend/rank/launcher.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace sextant {
namespace {

bool with(const char* name, const char* value) {
    ::setenv(name, value, 1);
    const bool answer = may_have_other_ranks();
    ::unsetenv(name);
    return answer;
}

TEST(Launcher, TellsARankOfSeveralFromAProcessAlone) {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMIX_RANK"}) ::unsetenv(name);
    EXPECT_FALSE(may_have_other_ranks()) << "nobody started it";
    EXPECT_TRUE(with("OMPI_COMM_WORLD_SIZE", "2")) << "mpirun";
    EXPECT_FALSE(with("OMPI_COMM_WORLD_SIZE", "1"));
    EXPECT_TRUE(with("SLURM_STEP_NUM_TASKS", "4")) << "srun";
    EXPECT_FALSE(with("SLURM_STEP_NUM_TASKS", "1"));
    EXPECT_TRUE(with("PMIX_RANK", "0")) << "any other: it does not say how many";
}

TEST(Launcher, TellsHowManyRanksAHostHas) {
    for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_TASKS_PER_NODE"}) ::unsetenv(name);
    EXPECT_EQ(ranks_on_host(), std::nullopt);
    ::setenv("SLURM_TASKS_PER_NODE", "4(x2)", 1);
    EXPECT_EQ(ranks_on_host(), 4);
    ::unsetenv("SLURM_TASKS_PER_NODE");
}

TEST(Launcher, TellsWhetherAllRanksShareAHost) {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_STEP_NUM_NODES"}) ::unsetenv(name);
    EXPECT_FALSE(ranks_share_a_host()) << "nobody says so";
    ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4", 1);
    EXPECT_TRUE(ranks_share_a_host()) << "mpirun";
    ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2", 1);
    EXPECT_FALSE(ranks_share_a_host());
    ::setenv("SLURM_STEP_NUM_NODES", "1", 1);
    EXPECT_FALSE(ranks_share_a_host()) << "mpirun, called in a shell that is a step of Slurm's on one node";
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"}) ::unsetenv(name);
    EXPECT_TRUE(ranks_share_a_host()) << "srun";
    ::setenv("SLURM_STEP_NUM_NODES", "2", 1);
    EXPECT_FALSE(ranks_share_a_host());
    ::unsetenv("SLURM_STEP_NUM_NODES");
}

}  // namespace
}  // namespace sextant
