// MPI's calls between real processes.
#include "tests/backend/mpi_test.hpp"

namespace sextant {
namespace {

class Polls : public MpiTest {};

// Open MPI looks first which messages are done, and moves those that have come after that.
TEST_F(Polls, NoticeWhatTheyHaveMoved) {
    const ProcessResult result = run_program(SEXTANT_MPIRUN, {"--timeout", "100", "-n", "2", SEXTANT_POLLED_MESSAGE});
    EXPECT_EQ(result.exit_code, 0) << result.err;
}

}  // namespace
}  // namespace sextant
