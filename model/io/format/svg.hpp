// The few elements of SVG that the pictures need, as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant::svg {

std::string number(double);                  // pixels, to a hundredth
std::string escaped(std::string_view text);  // and "3 us", "a -> b" with the signs that people write

// About how wide a text is drawn, whatever the fonts of the reader: a little more than the usual ones need.
double width_of(std::string_view text, double font_size);
// The text, or its beginning and an ellipsis, so that it fits.
std::string shortened(std::string_view text, double font_size, double width);
// Lines that fit, broken between words.
std::vector<std::string> wrapped(std::string_view text, double font_size, double width);

enum class Anchor { start, middle, end };
struct TextStyle {
    double size = 12;
    std::string_view fill = "#333333";
    Anchor anchor = Anchor::start;
    bool bold = false;
};
// (x, y) is on the baseline.
std::string text(double x, double y, std::string_view content, const TextStyle& = {});
std::string line(double x1, double y1, double x2, double y2, std::string_view stroke, double width = 1);
// With a tip, readers show it when the pointer rests on the rectangle.
std::string rectangle(double x, double y, double width, double height, std::string_view fill, std::string_view tip = {});
std::string path(std::string_view steps, std::string_view fill);
std::string document(double width, double height, const std::string& title, const std::string& body);

// 1, 2 or 5 times a power of ten, so that about `count` of them make `range`.
double round_step(double range, double count);

struct Colour {
    int red = 0, green = 0, blue = 0;
    [[nodiscard]] std::string hex() const;
    [[nodiscard]] Colour towards_white(double part) const;
    [[nodiscard]] std::string_view text_on_it() const;  // a fill that is legible on the colour
};

}  // namespace sextant::svg
