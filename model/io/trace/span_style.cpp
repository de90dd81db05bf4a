#include "model/io/trace/span_style.hpp"

#include <array>

namespace sextant {

const SpanStyle& style_of(SpanKind k) {
    static constexpr std::array<SpanStyle, span_kind_count> styles = {{
        {"forward", {102, 157, 206}},
        {"backward", {237, 186, 107}},
        {"weight gradients", {173, 183, 56}},
        {"recompute", {249, 232, 171}},
        {"optimizer", {124, 82, 166}},
        {"tensor communication", {192, 93, 99}},
        {"context communication", {231, 144, 132}},
        {"expert communication", {151, 57, 98}},
        {"pipeline communication", {54, 189, 186}},
        {"data communication", {111, 154, 47}},
        {"waits for the host", {131, 142, 144}},
        {"offload", {136, 104, 40}},
        {"overhead", {62, 113, 124}},
        {"parameter server", {63, 100, 53}},
        {"waits for samples", {180, 90, 215}},
        {"read", {96, 70, 222}},
        {"decode", {186, 226, 60}},
        {"copy to the device", {58, 44, 92}},
    }};
    return styles[static_cast<std::size_t>(k)];
}

svg::Colour colour_of(Term term) {
    const auto of = [](SpanKind k) { return style_of(k).colour; };
    switch (term) {
        case Term::forward: return of(SpanKind::forward);
        case Term::backward: return of(SpanKind::backward);
        case Term::recompute: return of(SpanKind::recompute);
        case Term::optimizer: return of(SpanKind::optimizer);
        case Term::tensor_communication: return of(SpanKind::tensor_exchange);
        case Term::context_communication: return of(SpanKind::context_exchange);
        case Term::expert_communication:
        case Term::straggler: return of(SpanKind::expert_exchange);
        case Term::pipeline_communication: return of(SpanKind::pipeline_transfer);
        case Term::data_communication: return of(SpanKind::data_exchange);
        case Term::bubble: return {151, 163, 175};
        case Term::input: return of(SpanKind::input);
        case Term::launch: return of(SpanKind::launch);
        case Term::offload: return of(SpanKind::offload);
        case Term::overhead: return of(SpanKind::overhead);
    }
    return {};
}

}  // namespace sextant
