// What MPI collectives cost that consist of messages between processes. The algorithm is the one in the library's table, whether or not
// another would be faster. docs/model/collectives.md has the formulas.
#pragma once

#include "model/cost/collectives.hpp"

#include <optional>

namespace sextant {

// For all-reduce and broadcast. None for other collectives, whose algorithms are taken to be those of other libraries.
std::optional<CollectivePrice> message_price(Collective, Bytes size, const Group&, const MessagePassing&, LinkScale = {});

}  // namespace sextant
