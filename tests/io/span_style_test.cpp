#include "model/io/trace/span_style.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sextant {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

// How linear RGB looks to people who lack one kind of cone: Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation
// of Color Vision Deficiency", IEEE TVCG 15(6), 2009, severity 1.
constexpr Matrix all_cones{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix protanopia{{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix deuteranopia{{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix tritanopia{{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}};
// sRGB to XYZ, over the white of D65 (IEC 61966-2-1).
constexpr Matrix to_xyz{{{0.4339, 0.3762, 0.1899}, {0.2126, 0.7152, 0.0722}, {0.0177, 0.1095, 0.8728}}};

Vector times(const Matrix& m, const Vector& v) {
    Vector out{};
    for (std::size_t row = 0; row < 3; ++row)
        for (std::size_t column = 0; column < 3; ++column) out[row] += m[row][column] * v[column];
    return out;
}

double linear(int channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

// CIE L*a*b* of a colour as it is seen.
Vector lab(const svg::Colour& c, const Matrix& eyes) {
    Vector seen = times(eyes, {linear(c.red), linear(c.green), linear(c.blue)});
    for (double& channel : seen) channel = std::clamp(channel, 0.0, 1.0);
    Vector xyz = times(to_xyz, seen);
    for (double& t : xyz) t = t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116;
    return {116 * xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])};
}

double difference(const Vector& a, const Vector& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

// Two colours that differ by 2.3 are just told apart (Mahy et al. 1994); areas in a legend want several times that.
TEST(SpanStyle, NoTwoKindsLookAlikeWhateverTheEyes) {
    constexpr double well_apart = 10;
    for (const Matrix& eyes : {all_cones, protanopia, deuteranopia, tritanopia})
        for (const SpanKind a : all_span_kinds)
            for (auto b = SpanKind::forward; b < a; b = static_cast<SpanKind>(static_cast<int>(b) + 1)) {
                const SpanStyle &one = style_of(a), &other = style_of(b);
                EXPECT_GT(difference(lab(one.colour, eyes), lab(other.colour, eyes)), well_apart) << one.name << " and " << other.name;
            }
}

TEST(SpanStyle, RedAndGreenAreAlikeToWhoLacksACone) {
    const svg::Colour red{190, 90, 60}, green{140, 120, 60};
    EXPECT_GT(difference(lab(red, all_cones), lab(green, all_cones)), 30);
    EXPECT_LT(difference(lab(red, deuteranopia), lab(green, deuteranopia)), 15);
}

}  // namespace
}  // namespace sextant
