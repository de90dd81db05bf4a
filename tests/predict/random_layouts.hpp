// Plans laid on small machines of every kind, drawn at random: what lay_groups has to place.
#pragma once

#include "model/plan/scenario.hpp"

#include <cstdint>

namespace sextant {

// Of `seed` alone: its cluster, its plan, and whether it leaves nodes over Ethernet. Numbers are crooked, so that sums round.
Scenario random_layout(std::uint64_t seed);
// The same with ranks on its nodes as a scheduler had room, and of some nodes of the cluster that do not follow each other.
Scenario random_allocation(std::uint64_t seed);

}  // namespace sextant
