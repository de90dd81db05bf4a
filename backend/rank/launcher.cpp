#include "backend/rank/launcher.hpp"

#include <cstdlib>

namespace sextant {
namespace {

std::optional<int> number(const char* variable) {
    const char* text = std::getenv(variable);
    return text ? std::optional(std::atoi(text)) : std::nullopt;
}

}  // namespace

bool may_have_other_ranks() {
    for (const char* ranks : {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"})
        if (const auto n = number(ranks)) return *n > 1;
    return std::getenv("PMIX_RANK") != nullptr;
}

std::optional<int> ranks_on_host() {
    for (const char* ranks : {"OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_TASKS_PER_NODE"})  // the latter: "4(x2)", of like hosts
        if (const auto n = number(ranks)) return n;
    return {};
}

bool ranks_share_a_host() {
    if (const auto ranks = number("OMPI_COMM_WORLD_SIZE")) return ranks == number("OMPI_COMM_WORLD_LOCAL_SIZE");
    return number("SLURM_STEP_NUM_NODES") == 1;
}

}  // namespace sextant
