#include "model/io/kind_look.hpp"

#include <array>

namespace sextant {

const KindLook& look_of(SpanKind k) {
    static constexpr std::array<KindLook, span_kind_count> looks = {{
        {"forward", {102, 157, 206}},
        {"backward", {237, 186, 107}},
        {"weight gradients", {173, 183, 56}},
        {"recompute", {249, 232, 171}},
        {"optimizer", {124, 82, 166}},
        {"tensor exchange", {192, 93, 99}},
        {"context exchange", {231, 144, 132}},
        {"expert exchange", {151, 57, 98}},
        {"pipeline transfer", {54, 189, 186}},
        {"data exchange", {111, 154, 47}},
        {"waits for the host", {131, 142, 144}},
        {"offload", {136, 104, 40}},
        {"overhead", {62, 113, 124}},
        {"parameter server", {63, 100, 53}},
        {"waits for samples", {180, 90, 215}},
        {"read", {96, 70, 222}},
        {"decode", {186, 226, 60}},
        {"copy to the device", {58, 44, 92}},
    }};
    return looks[static_cast<std::size_t>(k)];
}

}  // namespace sextant
