// Says that a profile's numbers were measured: on which machine, when, from what, and how well they predict it.
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
    std::string host, processor;  // no host where the numbers come from logs, which may be of any machine
    std::string date;             // "2026-11-21"
    int runs = 0;                 // how many small jobs ran; of logs: how many curves and runs they hold
    double noise = 0;             // the median of the relative noise of their steps
    double median_error = 0;      // of the terms that the numbers were fitted to
    std::vector<CalibratedNumber> numbers;
    std::vector<CalibratedTerm> terms;
    std::string fingerprint;  // of the profile as it was written; empty until it is
    bool edited = false;      // the profile that was read no longer matches its fingerprint
};

}  // namespace sextant
