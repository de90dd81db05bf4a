#include "model/io/kind_look.hpp"

#include <array>

namespace sextant {

const KindLook& look_of(SpanKind k) {
    static constexpr std::array<KindLook, span_kind_count> looks = {{
        {"forward", {76, 130, 184}},
        {"backward", {233, 159, 88}},
        {"weight gradients", {203, 184, 72}},
        {"recompute", {246, 211, 165}},
        {"optimizer", {117, 103, 176}},
        {"tensor exchange", {197, 78, 76}},
        {"context exchange", {222, 140, 134}},
        {"expert exchange", {171, 80, 125}},
        {"pipeline transfer", {64, 158, 146}},
        {"data exchange", {112, 168, 84}},
        {"waits for the host", {158, 158, 158}},
        {"offload", {142, 110, 70}},
        {"overhead", {92, 104, 116}},
        {"parameter server", {58, 118, 62}},
    }};
    return looks[static_cast<std::size_t>(k)];
}

}  // namespace sextant
