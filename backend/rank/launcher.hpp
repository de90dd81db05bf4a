// What a launcher says in the environment of the processes that it starts: all there is before MPI can be asked.
#pragma once

#include <optional>

namespace sextant {

// More ranks than this one; also where the launcher does not say how many.
bool may_have_other_ranks();

// How many there are on this host; none where it is not said.
std::optional<int> ranks_on_host();

// Whether all ranks are on this host; no where it is not said.
bool ranks_share_a_host();

}  // namespace sextant
