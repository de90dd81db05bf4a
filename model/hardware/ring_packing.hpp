// Rings over direct links: how many bytes per second can circulate when several rings use the links of a board at once.
#pragma once

#include <optional>
#include <vector>

namespace sextant {

// All rings together, as fractions: the bundle moves 1 per member, `use` of it over each directed pair.
struct RingBundle {
    double links = 0;         // ring bandwidth of the bundle, in links: 6 means six times the bandwidth of one link
    std::vector<int> order;   // of the heaviest ring
    std::vector<double> use;  // [a * n + b]: fraction that a sends straight to b; every row sums to 1
};

// The best bundle over `count`, the symmetric number of links between n >= 2 members. Nothing where no ring exists over direct links.
//
// A bundle is a set of Hamiltonian cycles with weights, each run in both directions (links are full duplex; a bundle and its reverse have
// equal weight, so their mean loses nothing). The weights of the cycles that cross a pair may not exceed its links; maximize their sum.
//   equal counts c on every pair:  c (n - 1), by symmetry all cycles weigh the same, and this is all that a member can send
//   otherwise, up to 8 members:    every cycle is listed and the linear program is solved: exact
//   beyond:                        cycles are taken one by one until no links are left: a lower bound
std::optional<RingBundle> pack_rings(const std::vector<std::vector<int>>& count);

}  // namespace sextant
