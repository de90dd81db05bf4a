#include "model/report/failures.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {

double times_as_long(Seconds segment, const FailingJob& job) {
    constexpr double never = 100;  // of e^100 times as long nobody sees the end, and its square is still a number
    const double w = std::min(never, segment / job.between), r = std::min(never, job.restart / job.between);
    return w > 0 ? std::exp(r) * std::expm1(w) / w : std::exp(r);
}

Seconds best_checkpoint_interval(Seconds saving, Seconds between) {
    const double x = saving / (2 * between);
    if (x >= 1) return between;
    return 2 * std::sqrt(x) * (1 + std::sqrt(x) / 3 + x / 9) * between - saving;
}

}  // namespace sextant
