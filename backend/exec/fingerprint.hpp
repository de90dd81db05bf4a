// A few numbers that stand for all weights, however these are divided: sums to which every rank adds what it holds.
#pragma once

#include "backend/exec/rank_runner.hpp"

#include <string>
#include <vector>

namespace sextant {

struct Fingerprint {
    int block = 0;
    std::string name;
    double elements = 0;  // of the serial tensor
    double held = 0;      // elements on all ranks together: each counts as often as there are copies of it
    double product = 0;   // dot product with numbers drawn from [-1, 1)
    double squares = 0;

    // A sum over the serial tensor, from one over all ranks: every element has equally many copies, and all are alike.
    [[nodiscard]] double of_one(double sum) const { return held > 0 ? sum * elements / held : 0; }
};

// What this rank adds, for every tensor of the serial network. RankRunner::gather_weights must come first.
std::vector<Fingerprint> fingerprints(const Job&, RankMemory&, ComputeDevice&);

}  // namespace sextant
