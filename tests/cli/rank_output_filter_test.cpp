// What is passed on of what Open MPI 4.1 prints when ranks end, in its own words.
#include "cli/rank_output_filter.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace sextant {
namespace {

const std::string rule(74, '-');
const std::string rank_line = "sextant-exec-cpu: rank 0 on vm: rank 1 on vm is gone";
const std::vector<std::string> end_of_ranks{rule,
                                            "Primary job  terminated normally, but 1 process returned",
                                            "a non-zero exit code. Per user-direction, the job has been aborted.",
                                            rule,
                                            rule,
                                            "mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed).",
                                            rule},
    abort{rule,
          "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD",
          "with errorcode 3.",
          "",
          rule,
          "[vm:22884] 1 more process has sent help message help-mpi-api.txt / mpi-abort",
          "[vm:22884] Set MCA parameter \"orte_base_help_aggregate\" to 0 to see all help / error messages",
          "[vm:22816] [[13790,0],0] ORTE_ERROR_LOG: Data unpack had inadequate space in file orte/util/show_help.c at line 513",
          "[vm:24023] Read -1, expected 56064, errno = 3"},
    cause{rule, "ORTE was unable to reliably start one or more daemons.", "This usually is caused by:", rule};

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    return text;
}

std::string passed_on(const std::vector<std::vector<std::string>>& said, bool why_is_known = false) {
    std::ostringstream out;
    RankOutputFilter ranks(out);
    for (const auto& lines : said)
        for (const std::string& line : lines) ranks.pass(line);
    ranks.end(why_is_known);
    return out.str();
}

TEST(RankOutputFilter, LeavesOutThatRanksHaveEndedWhereOneSaidWhy) {
    EXPECT_EQ(passed_on({end_of_ranks, {rank_line}, abort}), rank_line + '\n');
    EXPECT_EQ(passed_on({{"the plan does not fit"}, end_of_ranks}, true), "the plan does not fit\n");
}

// In the words of Slurm's srun and slurmstepd.
const std::vector<std::string> end_of_tasks{
    "srun: error: node2: task 1: Exited with exit code 3", "srun: error: node1: tasks 0,2-3: Killed",
    "srun: launch/slurm: _step_signal: Terminating StepId=7.0", "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
    "slurmstepd: error: *** STEP 7.0 ON node1 CANCELLED AT 2026-11-29T17:00:00 ***"};

TEST(RankOutputFilter, LeavesOutTheSameOfSrun) {
    EXPECT_EQ(passed_on({{rank_line}, end_of_tasks}), rank_line + '\n');
    EXPECT_EQ(passed_on({end_of_tasks}), joined(end_of_tasks));
}

TEST(RankOutputFilter, KeepsWhySlurmEndedIt) {
    const std::vector<std::string> why{"slurmstepd: error: *** STEP 7.0 ON node1 CANCELLED AT 2026-11-29T17:00:00 DUE TO TIME LIMIT ***",
                                       "srun: error: node1: task 0: Out Of Memory",
                                       "srun: error: Unable to create step for job 7: Requested node configuration is not available"};
    EXPECT_EQ(passed_on({{rank_line}, why}), rank_line + '\n' + joined(why));
}

TEST(RankOutputFilter, KeepsItWhereNobodyElseSaysAnything) {
    EXPECT_EQ(passed_on({end_of_ranks}), joined(end_of_ranks));
    EXPECT_EQ(passed_on({abort}), joined(abort));
}

TEST(RankOutputFilter, KeepsWhatElseMpirunSays) {
    EXPECT_EQ(passed_on({cause, {rank_line}, end_of_ranks}), joined(cause) + rank_line + '\n');
    EXPECT_EQ(passed_on({{rule, "half a frame"}}), rule + "\nhalf a frame\n");
}

}  // namespace
}  // namespace sextant
