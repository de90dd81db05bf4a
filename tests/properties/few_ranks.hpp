// Bundled scenarios cut down, to be played rank by rank.
#pragma once

#include "model/plan/scenario.hpp"

namespace sextant {

// The same kind of plan on fewer ranks: fewer copies, and if one alone has too many, fewer stages and a smaller spread of experts and
// context.
Scenario with_few_ranks(const Scenario&, int most_ranks = 64, std::int64_t most_micro_batches = 64);

}  // namespace sextant
