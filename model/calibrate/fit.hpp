// Parameters of a model from measurements: weighted least squares in logarithms, with what is known beforehand, without the outliers.
//
// With q = ln of the parameters, y = ln of the measurements and f(q) = ln of the predictions, what is sought makes
//
//     sum_i h((y_i - f_i(q)) / s_i)  +  sum_j ((q_j - p_j) / t_j)^2
//
// least, where s_i is the relative noise of a measurement, p_j and t_j where a parameter was thought to be and how sure that was. h is
// Tukey's biweight (Beaton and Tukey, Technometrics 16, 1974): what lies far outside its noise counts for nothing. Found by Gauss-Newton
// steps on reweighted squares, damped after Marquardt (SIAM J. Appl. Math. 11, 1963), from finite differences; begun with Huber's weights,
// which need no good start. Parameters stay within their bounds.
//
// The spread of a parameter afterwards is that of its posterior if the model were linear: the square root of the diagonal of
// (J' W J + T^-2)^-1, times how much larger the residuals are than the noise, if they are. A parameter that no measurement depends on keeps
// its value and its spread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace sextant {

struct FitParameter {
    std::string name;
    double value = 1;            // thought to be, before; positive
    double spread = 0.3;         // relative standard deviation of that
    double least = 0, most = 0;  // bounds
    double begin = 0;            // where the search begins; 0: at `value`. For what the model does not feel there
    // Where a second search begins; 0: there is none. What lies far outside its noise counts for nothing, so that more than one place may
    // be the best around: the better one is taken.
    double other_begin = 0;
};

struct FitPoint {
    double measured = 0;  // positive
    double noise = 0.05;  // relative standard deviation
};

// Predicted for every point, at these values of the parameters; positive.
using FitModel = std::function<std::vector<double>(const std::vector<double>& values)>;

struct FittedParameter {
    double value = 0, spread = 0;
    bool at_bound = false;
};

struct Fit {
    std::vector<FittedParameter> parameters;
    std::vector<double> predicted;  // by point
    std::vector<double> weights;    // by point: 1 counts fully, 0 not at all
    int steps = 0;
    double sum = 0;  // that was made least
};

Fit fit(const std::vector<FitParameter>&, const std::vector<FitPoint>&, const FitModel&);

// Does a point of this weight count for nothing, or nearly so: an outlier?
inline bool is_left_out(double weight) { return weight < 0.05; }

// Of two in the middle the lesser; of nothing T{}.
template <class T>
T median(std::vector<T> list) {
    if (list.empty()) return {};
    const auto middle = list.begin() + static_cast<std::ptrdiff_t>((list.size() - 1) / 2);
    std::ranges::nth_element(list, middle);
    return *middle;
}

// Do the measurements say more of it than was known before?
bool is_decided(const FittedParameter&, const FitParameter& before);

// The noise of one of `size` points that share what they deviate by: together they count as `most` independent ones at most.
double noise_among(double noise, double size, double most);

// Mean of |predicted / measured - 1|, outliers counted too.
double mean_error(const Fit&, const std::vector<FitPoint>&);

}  // namespace sextant
