#include "model/cost/elementwise.hpp"

namespace sextant {
namespace {

// For each element.
struct Work {
    double forward = 0, backward = 0;
    [[nodiscard]] double of(bool back) const { return back ? backward : forward; }
};

constexpr Work layer_norm{7, 20}, batch_norm{2, 3};
constexpr Work softmax{2.5, 1};        // the largest of the row, the exponentials, their sum
constexpr Work cross_entropy{2.5, 2};  // of a logit; backward takes the exponentials once more

Work of_function(PointwiseKind kind) {
    switch (kind) {
        case PointwiseKind::gelu:
            return {3.5, 4.5};  // the error function; backward an exponential as well
        case PointwiseKind::silu:
        case PointwiseKind::gate:
            return {1.5, 2.5};
        case PointwiseKind::sigmoid:
        case PointwiseKind::tanh:
            return {1, 0.5};  // backward needs the result alone
        default:
            return {};
    }
}

double elements(const Gemm&, bool) { return 0; }
double elements(const Convolution&, bool) { return 0; }
double elements(const Pooling&, bool) { return 0; }
double elements(const Embedding&, bool) { return 0; }
double elements(const TokenPermute&, bool) { return 0; }
double elements(const Exchange&, bool) { return 0; }
double elements(const Pointwise& p, bool backward) { return p.elements * of_function(p.kind).of(backward); }
double elements(const Softmax& s, bool backward) {
    return static_cast<double>(s.rows) * static_cast<double>(s.width) * softmax.of(backward);
}
double elements(const Normalization& n, bool backward) {
    const bool by_row = n.kind == NormKind::layer || n.kind == NormKind::rms;
    return static_cast<double>(n.rows) * static_cast<double>(n.width) * (by_row ? layer_norm : batch_norm).of(backward);
}
double elements(const CrossEntropy& c, bool backward) {
    return static_cast<double>(c.rows) * static_cast<double>(c.classes) * cross_entropy.of(backward);
}
// Backward makes the probabilities again, and their gradients.
double elements(const Attention& a, bool backward) {
    return static_cast<double>(a.batch) * static_cast<double>(a.heads) * attention_pairs(a) *
           (backward ? softmax.forward + softmax.backward : softmax.forward);
}

}  // namespace

double elementwise_work(const OperatorKind& kind, bool backward) {
    return std::visit([&](const auto& k) { return elements(k, backward); }, kind);
}

double update_work(Optimizer optimizer) {
    switch (optimizer) {
        case Optimizer::adam:
        case Optimizer::adamw:
            return 4.5;  // a square root and a division
        case Optimizer::lamb:
            return 9;  // twice: the step's length is known when all of it is
        default:
            return 0;
    }
}

}  // namespace sextant
