// Shares of a whole that are too small for a row of their own.
#pragma once

namespace sextant {

inline constexpr double worth_telling = 5e-5;         // of a step, a run or a critical path: 0.005 %, which two decimals do not show
inline constexpr double worth_telling_hidden = 5e-4;  // of a step: what passes behind compute costs nothing

}  // namespace sextant
