#include "model/calibrate/fit.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

constexpr int most_steps = 60;
constexpr double difference = 1e-3;                // of ln of a parameter, for derivatives
constexpr double settled = 1e-5;                   // a step that moves no parameter further is the last
constexpr double huber = 1.345, biweight = 4.685;  // noises; each keeps 95 % of the efficiency where noise is normal

// z^2 near 0, and no more beyond the biweight's bound: what its weights make least.
double bounded_square(double z) {
    const double share = std::min(1.0, std::pow(z / biweight, 2));
    return biweight * biweight / 3 * (1 - std::pow(1 - share, 3));
}

class Fitter {
public:
    Fitter(const std::vector<FitParameter>& parameters, const std::vector<FitPoint>& points, const FitModel& model)
        : model_(model),
          prior_(size(parameters)),
          stiffness_(size(parameters)),
          least_(size(parameters)),
          most_(size(parameters)),
          begin_(size(parameters)),
          measured_(size(points)),
          noise_(size(points)) {
        for (Eigen::Index j = 0; j < prior_.size(); ++j) {
            const FitParameter& p = parameters[static_cast<std::size_t>(j)];
            prior_[j] = std::log(p.value);
            stiffness_[j] = 1 / (p.spread * p.spread);
            least_[j] = std::log(p.least);
            most_[j] = std::log(p.most);
            begin_[j] = std::log(p.begin > 0 ? p.begin : p.value);
        }
        for (Eigen::Index i = 0; i < measured_.size(); ++i) {
            measured_[i] = std::log(points[static_cast<std::size_t>(i)].measured);
            noise_[i] = points[static_cast<std::size_t>(i)].noise;
        }
    }

    Fit run() {
        Vector q = clamped(begin_);
        int steps = descend(q, [](double z) { return std::min(1.0, huber / std::abs(z)); });
        steps += descend(q, [](double z) { return std::abs(z) < biweight ? std::pow(1 - std::pow(z / biweight, 2), 2) : 0; });
        return conclude(q, steps);
    }

private:
    template <class T>
    static Eigen::Index size(const std::vector<T>& list) {
        return static_cast<Eigen::Index>(list.size());
    }

    [[nodiscard]] Vector clamped(const Vector& q) const { return q.cwiseMax(least_).cwiseMin(most_); }

    [[nodiscard]] Vector predicted(const Vector& q) const {
        std::vector<double> values(static_cast<std::size_t>(q.size()));
        for (Eigen::Index j = 0; j < q.size(); ++j) values[static_cast<std::size_t>(j)] = std::exp(q[j]);
        const std::vector<double> found = model_(values);
        Vector logs(measured_.size());
        for (Eigen::Index i = 0; i < logs.size(); ++i) logs[i] = std::log(found[static_cast<std::size_t>(i)]);
        return logs;
    }

    [[nodiscard]] Matrix jacobian(const Vector& q, const Vector& at) const {
        Matrix j(at.size(), q.size());
        for (Eigen::Index k = 0; k < q.size(); ++k) {
            Vector moved = q;
            moved[k] += q[k] + difference < most_[k] ? difference : -difference;
            j.col(k) = (predicted(moved) - at) / (moved[k] - q[k]);
        }
        return j;
    }

    template <class Weight>
    [[nodiscard]] Vector weights(const Vector& residuals, Weight weight) const {
        Vector w(residuals.size());
        for (Eigen::Index i = 0; i < w.size(); ++i) w[i] = residuals[i] == 0 ? 1 : weight(residuals[i] / noise_[i]);
        return w;
    }

    [[nodiscard]] double cost(const Vector& q, const Vector& residuals, const Vector& w) const {
        return (w.array() * (residuals.array() / noise_.array()).square()).sum() +
               (stiffness_.array() * (q - prior_).array().square()).sum();
    }

    // A parameter that would leave its bounds stays there while the others step as if it were known.
    void hold_at_bounds(const Vector& q, Vector& slope, Matrix& curvature) const {
        for (Eigen::Index k = 0; k < q.size(); ++k) {
            if (!((q[k] <= least_[k] && slope[k] < 0) || (q[k] >= most_[k] && slope[k] > 0))) continue;
            slope[k] = 0;
            curvature.row(k).setZero();
            curvature.col(k).setZero();
            curvature(k, k) = 1;
        }
    }

    // With the weights held during a step: a step that does not lower their sum is damped more.
    template <class Weight>
    int descend(Vector& q, Weight weight) {
        double damping = 1e-3;
        Vector at = predicted(q);
        for (int step = 1; step <= most_steps; ++step) {
            const Vector residuals = measured_ - at;
            weights_ = weights(residuals, weight);
            const Matrix j = jacobian(q, at);
            const Vector scaled = weights_.array() / noise_.array().square();
            Matrix curvature = j.transpose() * scaled.asDiagonal() * j;
            curvature.diagonal() += stiffness_;
            Vector slope = j.transpose() * scaled.cwiseProduct(residuals) - stiffness_.cwiseProduct(q - prior_);
            hold_at_bounds(q, slope, curvature);
            const double before = cost(q, residuals, weights_);
            double moved = 0;
            for (; damping < 1e9; damping *= 10) {
                Matrix damped = curvature;
                damped.diagonal() *= 1 + damping;
                const Vector next = clamped(q + damped.ldlt().solve(slope));
                const Vector there = predicted(next);
                if (!(cost(next, measured_ - there, weights_) <= before)) continue;
                moved = (next - q).lpNorm<Eigen::Infinity>();  // 0 of none
                q = next;
                at = there;
                damping = std::max(1e-9, damping / 10);
                break;
            }
            if (moved < settled) return step;
        }
        return most_steps;
    }

    [[nodiscard]] Fit conclude(const Vector& q, int steps) const {
        const Vector at = predicted(q), residuals = measured_ - at;
        const Vector scaled = weights_.array() / noise_.array().square();
        const Matrix j = jacobian(q, at);
        Matrix curvature = j.transpose() * scaled.asDiagonal() * j;
        curvature.diagonal() += stiffness_;
        const double freedom = std::max(1.0, weights_.sum() - static_cast<double>(q.size()));
        const double excess = std::max(1.0, std::sqrt((scaled.array() * residuals.array().square()).sum() / freedom));
        const Matrix covariance = curvature.inverse();
        Fit found;
        found.steps = steps;
        found.sum = (stiffness_.array() * (q - prior_).array().square()).sum();
        for (Eigen::Index i = 0; i < at.size(); ++i) found.sum += bounded_square(residuals[i] / noise_[i]);
        for (Eigen::Index k = 0; k < q.size(); ++k) {
            const double before = 1 / std::sqrt(stiffness_[k]);
            found.parameters.push_back(
                {std::exp(q[k]), std::min(before, excess * std::sqrt(covariance(k, k))), q[k] <= least_[k] || q[k] >= most_[k]});
        }
        for (Eigen::Index i = 0; i < at.size(); ++i) {
            found.predicted.push_back(std::exp(at[i]));
            found.weights.push_back(weights_[i]);
        }
        return found;
    }

    const FitModel& model_;
    Vector prior_, stiffness_, least_, most_, begin_, measured_, noise_, weights_;
};

}  // namespace

Fit fit(const std::vector<FitParameter>& parameters, const std::vector<FitPoint>& points, const FitModel& model) {
    Fit found = Fitter(parameters, points, model).run();
    const auto has_other = [](const FitParameter& p) { return p.other_begin > 0; };
    if (std::ranges::none_of(parameters, has_other)) return found;
    std::vector<FitParameter> others = parameters;
    for (FitParameter& p : others)
        if (has_other(p)) p.begin = p.other_begin;
    Fit other = Fitter(others, points, model).run();
    return other.sum < found.sum ? other : found;
}

bool is_decided(const FittedParameter& after, const FitParameter& before) { return after.spread <= 0.95 * before.spread; }

double noise_among(double noise, double size, double most) { return noise * std::sqrt(std::max(1.0, size / most)); }

double mean_error(const Fit& fit, const std::vector<FitPoint>& points) {
    double sum = 0;
    for (std::size_t i = 0; i < points.size(); ++i) sum += std::abs(fit.predicted[i] / points[i].measured - 1);
    return sum / static_cast<double>(points.size());
}

}  // namespace sextant
