// The default scenario, rank by rank.
#pragma once

#include "model/lower/lower.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <string>
#include <vector>

namespace sextant {

inline TaskGraph default_graph(const std::vector<std::string>& overrides) {
    return lower(bundled_scenario("default", overrides), Fold::nothing);
}

}  // namespace sextant
