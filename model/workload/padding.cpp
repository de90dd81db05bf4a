#include "model/workload/padding.hpp"

#include <numeric>

namespace sextant {
namespace {

// True where it was none.
bool round_up(std::int64_t& size, std::int64_t multiple) {
    const std::int64_t missing = (multiple - size % multiple) % multiple;
    size += missing;
    return missing > 0;
}

bool pad(TransformerSpec& t, std::int64_t multiple) {
    bool changed = t.kind != TransformerKind::vision && round_up(t.vocab, multiple);
    // Heads stay as many, and share out the width where it is not stated what they have.
    changed |= round_up(t.hidden, t.head_dim > 0 ? multiple : std::lcm(multiple, t.heads));
    changed |= round_up(t.ffn_hidden, multiple);
    if (t.moe) changed |= round_up(t.moe->ffn_hidden, multiple);
    return changed;
}

bool pad(MlpSpec& mlp, std::int64_t multiple) {
    bool changed = false;
    for (std::size_t i = 1; i + 1 < mlp.widths.size(); ++i) changed |= round_up(mlp.widths[i], multiple);
    return changed;
}

template <class Spec>
bool pad(Spec&, std::int64_t) {
    return false;
}

}  // namespace

std::optional<Workload> padded(const Workload& workload, std::int64_t multiple) {
    Workload larger = workload;
    const bool changed = std::visit([&](auto& spec) { return pad(spec, multiple); }, larger.spec);
    return changed ? std::optional(std::move(larger)) : std::nullopt;
}

}  // namespace sextant
