// The words of profiles, for those that read and those that write them.
#pragma once

#include "model/hardware/cluster.hpp"
#include "model/io/format/json_reader.hpp"

namespace sextant {

inline constexpr Word<DeviceKind> device_kind_words[] = {
    {"gpu", DeviceKind::gpu}, {"cpu", DeviceKind::cpu}, {"accelerator", DeviceKind::accelerator}};
inline constexpr Word<ComputeUnit> compute_unit_words[] = {{"vector", ComputeUnit::vector}, {"tensor", ComputeUnit::tensor}};
inline constexpr Word<PeerLayout> peer_layout_words[] = {{"none", PeerLayout::none},
                                                         {"crossbar", PeerLayout::crossbar},
                                                         {"all_to_all", PeerLayout::all_to_all},
                                                         {"matrix", PeerLayout::matrix},
                                                         {"pairs", PeerLayout::pairs}};
inline constexpr Word<FabricKind> fabric_kind_words[] = {{"none", FabricKind::none},
                                                         {"single_switch", FabricKind::single_switch},
                                                         {"leaf_spine", FabricKind::leaf_spine},
                                                         {"rail_leaf_spine", FabricKind::rail_leaf_spine},
                                                         {"dragonfly", FabricKind::dragonfly}};
inline constexpr Word<LinkCategory> link_category_words[] = {{"pcie", LinkCategory::pcie},         {"socket", LinkCategory::socket},
                                                             {"nvlink", LinkCategory::nvlink},     {"infiniband", LinkCategory::infiniband},
                                                             {"ethernet", LinkCategory::ethernet}, {"memory", LinkCategory::memory}};
inline constexpr Word<StorageKind> storage_kind_words[] = {
    {"memory", StorageKind::memory}, {"disk", StorageKind::disk},         {"ssd", StorageKind::ssd},      {"nvme", StorageKind::nvme},
    {"nfs", StorageKind::nfs},       {"parallel", StorageKind::parallel}, {"object", StorageKind::object}};
inline constexpr Word<BroadcastAlgorithm> broadcast_algorithm_words[] = {
    {"binomial", BroadcastAlgorithm::binomial}, {"split_binary", BroadcastAlgorithm::split_binary}, {"chain", BroadcastAlgorithm::chain}};

}  // namespace sextant
