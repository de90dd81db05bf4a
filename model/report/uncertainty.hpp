// How sure: the inputs that the answer rests on, their spread by kind of source, and the interval that follows.
//
//   sigma^2 = model^2 + sum over inputs of (ln T(x (1 + s)) - ln T(x))^2,   interval T exp(-+ 1.2816 sigma)   (80 % of a normal)
//
// s by kind of source, of the fraction that is reached rather than of the printed figure: measured 5 %, datasheet 10 %, published
// 15 %, estimated 30 %. `model` is what remains when every input is right: see docs/model/report.md.
#pragma once

#include "model/report/report.hpp"

namespace sextant {

struct Uncertainty {
    std::vector<InputUsed> inputs;
    Seconds low, high;
};
Uncertainty find_uncertainty(const Prepared&, const Estimate&);

}  // namespace sextant
