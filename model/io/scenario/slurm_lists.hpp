// What Slurm tells a job of its allocation, in its own short forms.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace sextant {

// SLURM_TASKS_PER_NODE: "4(x2),1" is 4, 4, 1. None where it is no such list.
std::optional<std::vector<int>> read_repeated_counts(std::string_view);

// SLURM_JOB_NODELIST: the numbers of "gcn[012-014,40],gcn60" are 12, 13, 14, 40, 60. None where a node has no number, where they do not
// ascend, or where their names begin differently.
std::optional<std::vector<int>> read_node_list(std::string_view);

}  // namespace sextant
