// That a profile's numbers were measured: on which machine, when, from what, and how well it went.
#pragma once

#include "model/base/quantity.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant {

// One number that was measured, and as the profile predicts it.
struct CalibratedTerm {
    std::string of, name;  // "attention", "backward"; "all_reduce_perf on 8 ranks of 1 node", "1 MiB"
    Seconds measured, predicted;
    double noise = 0;           // relative
    std::optional<Bytes> size;  // of a message: terms of a curve
    bool left_out = false;      // far outside its noise
};

// One number of the profile, before and after, as people read it.
struct CalibratedNumber {
    std::string owner, name, before, after;
    double spread_before = 0, spread = 0;  // relative
};

struct CalibrationStamp {
    std::string host, processor;  // no host: from logs, of whichever machine left them
    std::string date;             // "2026-11-21"
    int runs = 0;                 // of small jobs; of logs, curves and runs
    double noise = 0;             // of their steps, relative: the median
    double median_error = 0;      // of the terms that the numbers were fitted to
    std::vector<CalibratedNumber> numbers;
    std::vector<CalibratedTerm> terms;
    std::string fingerprint;  // of the profile as it was written; none: of one that is still to be
    bool edited = false;      // it was read with another content than its fingerprint's
};

}  // namespace sextant
