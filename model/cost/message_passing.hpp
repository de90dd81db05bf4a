// What the collectives of an MPI cost, that are messages between its processes: the algorithm is the one that the library's table says,
// whether or not another were faster. docs/model/collectives.md has the formulas.
#pragma once

#include "model/cost/collectives.hpp"

#include <optional>

namespace sextant {

// Of all-reduce and broadcast. None for the others: their algorithms are taken to be those of other libraries.
std::optional<CollectivePrice> message_price(Collective, Bytes size, const Group&, const MessagePassing&, LinkScale = {});

}  // namespace sextant
