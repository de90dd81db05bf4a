// Loss scaling (arXiv 1710.03740, section 3.2): fp16 has no numbers below 2^-24, and gradients are often smaller. So backward begins with
// the loss times a factor, by which the gradients are divided before the update. It halves when a gradient has become too large for fp16,
// and such a step does not count; it doubles after many good ones.
#pragma once

namespace sextant {

class LossScale {
public:
    static constexpr double usual = 65536;
    static constexpr int growth_interval = 2000;  // good steps before it doubles

    explicit LossScale(double first) : value_(first) {}

    [[nodiscard]] double value() const { return value_; }
    [[nodiscard]] int skipped() const { return skipped_; }  // steps so far that did not count

    // Takes the outcome of a step, and returns whether the step counts. `finite`: all of its gradients are.
    bool take(bool finite) {
        if (!finite) {
            value_ /= 2;
            good_ = 0;
            ++skipped_;
        } else if (++good_ == growth_interval) {
            value_ *= 2;
            good_ = 0;
        }
        return finite;
    }

private:
    double value_;
    int good_ = 0, skipped_ = 0;
};

}  // namespace sextant
