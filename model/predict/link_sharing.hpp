// How much two simultaneous exchanges slow each other on the links they share. docs/model/link_sharing.md derives it. Internal to predict.
#pragma once

#include <span>
#include <vector>

namespace sextant {

// The seconds that one link needs for a byte of each exchange.
struct SharedLink {
    double one = 0, other = 0;
};
// Adds a link, unless one that is there already needs at least as long for both: such a link never limits.
void keep(std::vector<SharedLink>&, SharedLink);

// How many times as long each exchange takes while both go on. Rates are max-min fair, as in the simulator.
struct Slowed {
    double one = 1, other = 1;
};
Slowed side_by_side(std::span<const SharedLink>);

}  // namespace sextant
