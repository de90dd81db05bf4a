// How profiles spell what is one of a few kinds.
#pragma once

#include "model/hardware/cluster.hpp"

#include <string_view>

namespace sextant {

inline std::string_view word(DeviceKind kind) { return kind == DeviceKind::gpu ? "gpu" : kind == DeviceKind::cpu ? "cpu" : "accelerator"; }
inline std::string_view word(PeerLayout layout) {
    constexpr std::string_view words[] = {"none", "crossbar", "all_to_all", "matrix", "pairs"};
    return words[static_cast<int>(layout)];
}
inline std::string_view word(FabricKind kind) {
    constexpr std::string_view words[] = {"none", "single_switch", "leaf_spine", "rail_leaf_spine", "dragonfly"};
    return words[static_cast<int>(kind)];
}
inline std::string_view word(LinkCategory category) {
    constexpr std::string_view words[] = {"pcie", "socket", "nvlink", "infiniband", "ethernet", "memory"};
    return words[static_cast<int>(category)];
}
inline std::string_view word(StorageKind kind) {
    constexpr std::string_view words[] = {"memory", "disk", "ssd", "nvme", "nfs", "parallel", "object"};
    return words[static_cast<int>(kind)];
}

}  // namespace sextant
