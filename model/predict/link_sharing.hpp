// Two exchanges that go on at the same time, and the links that they meet on. docs/model/link_sharing.md derives it. Internal to predict.
#pragma once

#include <span>
#include <vector>

namespace sextant {

// What a byte of each takes of a link, in seconds. Where a link takes no more of either than another one does, it never counts.
struct SharedLink {
    double one = 0, other = 0;
};
void keep(std::vector<SharedLink>&, SharedLink);

// How many times as long each takes while both go on, their rates max-min fair as the simulator's are.
struct Slowed {
    double one = 1, other = 1;
};
Slowed side_by_side(std::span<const SharedLink>);

}  // namespace sextant
