#include "model/cost/elementwise.hpp"

#include "model/cost/scans.hpp"

#include <algorithm>

namespace sextant {
namespace {

struct EachElement {
    double forward = 0, backward = 0;
    [[nodiscard]] double of(bool back) const { return back ? backward : forward; }
};

constexpr EachElement silu{1.5, 2}, gate{3, 7};  // a gate takes its halves apart and puts them together again
constexpr EachElement layer_norm{1.6, 4}, rms_norm{1.2, 2.5}, batch_norm{1.7, 1.1};
constexpr EachElement gate_of_norm{2, 4.6};     // SiLU and a product; backward both again, and what goes to either
constexpr EachElement tap{0.5, 1.6};            // of a convolution along a sequence; backward also of the input and of the filter
constexpr EachElement softmax{2.8, 0.7};        // the largest of the row, the exponentials, their sum
constexpr EachElement attention{2.2, 1.1};      // of a score
constexpr EachElement cross_entropy{3.3, 3.2};  // of a logit, whose row is copied first; backward takes the exponentials once more

EachElement of_function(PointwiseKind kind) {
    switch (kind) {
        case PointwiseKind::gelu: return {1.6, 1.7};  // the error function; backward an exponential as well
        case PointwiseKind::silu: return silu;
        case PointwiseKind::gate:
        case PointwiseKind::clamped_gate: return gate;
        case PointwiseKind::sigmoid:
        case PointwiseKind::tanh: return {1, 0.5};  // backward needs the result alone
        case PointwiseKind::rotary: return {2, 2};
        case PointwiseKind::dropout: return {6.5, 0};  // a random number for each element
        default: return {};
    }
}

template <class Other>
double elements(const Other&, bool) {
    return 0;
}
double elements(const Pointwise& p, bool backward) { return p.elements * of_function(p.kind).of(backward); }
double elements(const Softmax& s, bool backward) {
    return static_cast<double>(s.rows) * static_cast<double>(s.width) * softmax.of(backward);
}
double elements(const Normalization& n, bool backward) {
    const EachElement& each = n.kind == NormKind::layer ? layer_norm : n.kind == NormKind::rms ? rms_norm : batch_norm;
    const double gate = n.gated ? gate_of_norm.of(backward) : 0;
    return static_cast<double>(n.rows) * static_cast<double>(n.width) * (each.of(backward) + gate);
}
double elements(const SequenceConvolution& c, bool backward) {
    const double of_taps = static_cast<double>(c.kernel) * tap.of(backward);
    return static_cast<double>(c.batch * c.sequence) * static_cast<double>(c.channels) * (silu.of(backward) + of_taps);
}
// A decay for each pair of tokens of a chunk.
double elements(const Scan auto& s, bool) {
    return static_cast<double>(s.batch * s.sequence) * static_cast<double>(s.heads * std::min(s.chunk, s.sequence));
}
double elements(const CrossEntropy& c, bool backward) {
    return static_cast<double>(c.rows) * static_cast<double>(c.classes) * cross_entropy.of(backward);
}
double elements(const Attention& a, bool backward) {
    return static_cast<double>(a.batch) * static_cast<double>(a.heads) * attention_pairs(a) * computed_scores(a) * attention.of(backward);
}

}  // namespace

double computed_scores(const Attention& a) {
    if (!a.causal) return 1;
    constexpr std::int64_t block = 64;
    // Ranks that balance have two slices of the sequence each, and all of them together all of it.
    const std::int64_t queries = a.balanced ? a.key_len : a.query_len, slice = a.balanced ? a.query_len / 2 : a.query_len;
    const std::int64_t earlier = a.key_len - queries;
    double scores = 0;
    for (std::int64_t end_of_slice = slice; end_of_slice - slice < queries; end_of_slice += slice)
        for (std::int64_t first = end_of_slice - slice, behind = 0; first < std::min(end_of_slice, queries); first = behind) {
            behind = std::min(first + block, end_of_slice);
            const std::int64_t end = std::max<std::int64_t>(0, earlier + behind);
            const std::int64_t begin = a.window > 0 ? std::max<std::int64_t>(0, earlier + first + 1 - a.window) : 0;
            scores += static_cast<double>(behind - first) * static_cast<double>(end - begin);
        }
    const double here = static_cast<double>(a.query_len) / static_cast<double>(queries);
    return std::max(1.0, scores * here / attention_pairs(a));
}

double elementwise_work(const OperatorKind& kind, bool backward) {
    return std::visit([&](const auto& k) { return elements(k, backward); }, kind);
}

}  // namespace sextant
