// What a launcher tells its processes in their environment. Before MPI_Init there is no other way to know.
#pragma once

#include <optional>

namespace sextant {

// Whether there may be other ranks; true also where the launcher does not say how many there are.
bool may_have_other_ranks();

// The number of ranks on this host; none where the launcher does not say.
std::optional<int> ranks_on_host();

// Whether all ranks are on this host; false where the launcher does not say.
bool ranks_share_a_host();

}  // namespace sextant
