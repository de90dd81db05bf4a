// What a change moved: the same rows as they were predicted before and as they are predicted now.
#pragma once

#include "model/report/validation.hpp"

#include <string>
#include <vector>

namespace sextant {

struct RowMove {
    std::string file, id;
    bool counted = true, fitted = false;
    std::optional<Seconds> measured, before, after;   // step times
    std::optional<double> error_before, error_after;  // signed, relative
    std::optional<std::string> refused_before, refused_after;
    // How much further from the measurement, in points of its absolute error; 0 where one side has none.
    [[nodiscard]] double worse_by() const;
};

struct ValidationDiff {
    Validation before, after;  // the rows that both have, in the same order
    int only_before = 0, only_after = 0;
    std::vector<RowMove> moved;  // whose prediction changed by more than the noise of printing; what grew worse first
};

// Rows are the same where file and id are.
ValidationDiff diff(const Validation& before, const Validation& after);

}  // namespace sextant
