// The default scenario, rank by rank.
#pragma once

#include "model/lower/lower.hpp"
#include "model/sextant.hpp"

#include <string>
#include <vector>

namespace sextant {

inline TaskGraph default_graph(const std::vector<std::string>& overrides) {
    Library library = open_library();
    return lower(load_scenario(library, SEXTANT_SOURCE_DIR "/scenarios/default.json", overrides), Fold::nothing);
}

}  // namespace sextant
