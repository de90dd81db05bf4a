#include "backend/rank/launcher.hpp"

#include <cstdlib>
#include <initializer_list>

namespace sextant {

bool may_have_other_ranks() {
    for (const char* ranks : {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"})
        if (const char* number = std::getenv(ranks)) return std::atoi(number) > 1;
    return std::getenv("PMIX_RANK") != nullptr;
}

std::optional<int> ranks_on_host() {
    for (const char* ranks : {"OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_TASKS_PER_NODE"})  // the latter: "4(x2)", of like hosts
        if (const char* number = std::getenv(ranks)) return std::atoi(number);
    return {};
}

}  // namespace sextant
