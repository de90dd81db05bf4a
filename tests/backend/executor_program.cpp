#include "tests/backend/mpi_test.hpp"

namespace sextant {

std::string executor_program() { return SEXTANT_EXECUTOR; }

}  // namespace sextant
