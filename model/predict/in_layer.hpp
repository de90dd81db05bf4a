// Exchanges inside layers, by the dimension of the plan that asks for them. Internal to predict.
#pragma once

#include "model/predict/estimate.hpp"
#include "model/workload/operator.hpp"

#include <array>

namespace sextant {

enum class InLayer { tensor, context, expert };
inline constexpr std::array all_in_layer{InLayer::tensor, InLayer::context, InLayer::expert};

// Tensor parallelism inside experts counts as tensor parallelism.
constexpr InLayer in_layer(ParallelGroup which) {
    if (which == ParallelGroup::context) return InLayer::context;
    return which == ParallelGroup::expert ? InLayer::expert : InLayer::tensor;
}
constexpr ParallelGroup group_of(InLayer kind) {
    if (kind == InLayer::context) return ParallelGroup::context;
    return kind == InLayer::expert ? ParallelGroup::expert : ParallelGroup::tensor;
}
constexpr Term term_of(InLayer kind) {
    if (kind == InLayer::context) return Term::context_communication;
    return kind == InLayer::expert ? Term::expert_communication : Term::tensor_communication;
}

// One T for each of them.
template <class T>
struct ByInLayer {
    std::array<T, all_in_layer.size()> of{};

    [[nodiscard]] T& operator[](InLayer kind) { return of[static_cast<std::size_t>(kind)]; }
    [[nodiscard]] const T& operator[](InLayer kind) const { return of[static_cast<std::size_t>(kind)]; }
    [[nodiscard]] T sum() const { return of[0] + of[1] + of[2]; }
    ByInLayer& operator+=(const ByInLayer& o) {
        for (std::size_t i = 0; i < of.size(); ++i) of[i] += o.of[i];
        return *this;
    }
    ByInLayer& operator*=(double n) {
        for (T& t : of) t *= n;
        return *this;
    }
    friend auto operator<=>(const ByInLayer&, const ByInLayer&) = default;
};

}  // namespace sextant
