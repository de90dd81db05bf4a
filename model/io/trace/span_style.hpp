// What a kind of work is called in pictures, and its colour: the same in every one, and told apart by the colour-blind too
// (tests/io/span_style_test.cpp).
#pragma once

#include "model/graph/trace.hpp"
#include "model/io/format/svg.hpp"
#include "model/report/report.hpp"

#include <string_view>

namespace sextant {

struct SpanStyle {
    std::string_view name;
    svg::Colour colour;
};
const SpanStyle& style_of(SpanKind);

// That of the work it is the time of.
svg::Colour colour_of(Term);

}  // namespace sextant
