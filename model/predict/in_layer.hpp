// Exchanges inside layers, by the dimension of the plan that asks for them. Internal to predict.
#pragma once

#include "model/base/enum_array.hpp"
#include "model/predict/estimate.hpp"
#include "model/workload/operator.hpp"

namespace sextant {

enum class InLayer { tensor, context, expert };
inline constexpr auto all_in_layer = enumerators<InLayer, 3>();

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

// One T for each kind of exchange inside layers.
template <class T>
struct ByInLayer : EnumArray<InLayer, T, all_in_layer.size()> {
    [[nodiscard]] T sum() const { return (*this)[InLayer::tensor] + (*this)[InLayer::context] + (*this)[InLayer::expert]; }
    ByInLayer& operator+=(const ByInLayer& o) {
        for (const InLayer kind : all_in_layer) (*this)[kind] += o[kind];
        return *this;
    }
    ByInLayer& operator*=(double n) {
        for (T& t : *this) t *= n;
        return *this;
    }
    friend auto operator<=>(const ByInLayer&, const ByInLayer&) = default;
};

}  // namespace sextant
