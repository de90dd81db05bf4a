// A few numbers that stand for all weights, however they are cut: sums to which every rank adds what it holds.
#pragma once

#include "backend/exec/rank_runner.hpp"

#include <string>
#include <vector>

namespace sextant {

struct Fingerprint {
    int block = 0;
    std::string name;
    double elements = 0;  // of the serial tensor
    double held = 0;      // on all ranks: each element as often as it is copied
    double product = 0;   // with numbers drawn from [-1, 1)
    double squares = 0;

    // Of the serial tensor: copies are all alike and equally many.
    [[nodiscard]] double of_one(double sum) const { return held > 0 ? sum * elements / held : 0; }
};

// What this rank adds, for every tensor of the serial network. The weights are whole (RankRunner::gather_weights).
std::vector<Fingerprint> fingerprints(const Job&, RankMemory&, ComputeDevice&);

}  // namespace sextant
