// What `nvidia-smi topo -m` prints: which links join the GPUs of a machine, and which network adapters stand beside them.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/hardware/cluster.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sextant {

struct GpuTopology {
    std::string file;
    std::vector<std::string> gpus, nics;  // "GPU0"; adapters by their device where the legend says it: "mlx5_0"
    // From a GPU to a GPU or, behind these, to an adapter: "NV12", "PIX", "PXB", "PHB", "NODE", "SYS"; "X" to itself.
    std::vector<std::vector<std::string>> paths;

    [[nodiscard]] int nvlinks(std::size_t a, std::size_t b) const;  // between two GPUs
    // One entry for all pairs; none where pairs differ.
    [[nodiscard]] std::optional<int> nvlinks_of_all() const;
    [[nodiscard]] int gpus_of_switch() const;  // that share a PCIe switch; 1: none
    // Adapters behind a PCIe switch that a GPU is behind too; all where there are none.
    [[nodiscard]] std::vector<std::string> compute_nics() const;
};

// Problems are reported with their lines. After a problem the result must not be used.
GpuTopology read_gpu_topology(std::string_view text, const std::string& name, Diagnostics&);

// Gives the node the links, switches and adapters that were seen. What the profile says of each link stays. Returns what changed, in words;
// adds a Diagnostic where the profile has no such link.
std::vector<std::string> apply(const GpuTopology&, Cluster&, Diagnostics&);

}  // namespace sextant
