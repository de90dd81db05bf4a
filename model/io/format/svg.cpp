#include "model/io/format/svg.hpp"

#include "model/base/quantity_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace sextant::svg {

std::string number(double value) {
    std::array<char, 400> digits;
    char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed, 2).ptr;
    std::string text(digits.data(), end);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : with_signs(text)) switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
        }
    return out;
}

// By the widths of DejaVu Sans, one of the widest fonts that readers fall back to.
double width_of(std::string_view text, double font_size) {
    double width = 0;
    for (const char c : text) {
        if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;  // inside a UTF-8 character
        if (std::string_view("ijl.,:;'|()[] ").find(c) != std::string_view::npos)
            width += 0.36;
        else if (std::string_view("fIrt-/").find(c) != std::string_view::npos)
            width += 0.42;
        else if (std::string_view("mwMW%").find(c) != std::string_view::npos)
            width += 0.97;
        else
            width += c >= 'A' && c <= 'Z' ? 0.75 : 0.64;
    }
    return width * font_size;
}

std::string shortened(std::string_view text, double font_size, double width) {
    if (width_of(text, font_size) <= width) return std::string(text);
    const auto cut_in_a_character = [&] { return !text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80; };
    while (!text.empty() && width_of(text, font_size) + font_size > width) {
        while (cut_in_a_character()) text.remove_suffix(1);
        if (!text.empty()) text.remove_suffix(1);
    }
    while (text.ends_with(' ')) text.remove_suffix(1);
    return std::string(text) + "\u2026";
}

std::vector<std::string> wrapped(std::string_view text, double font_size, double width) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (!lines.empty() && width_of(lines.back() + " " + std::string(word), font_size) <= width)
            lines.back() += " " + std::string(word);
        else
            lines.push_back(shortened(word, font_size, width));
    }
    return lines;
}

std::string text(double x, double y, std::string_view content, const TextStyle& style) {
    static constexpr std::array<std::string_view, 3> anchors = {"start", "middle", "end"};
    std::string out = "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" font-size=\"" + number(style.size) + "\" fill=\"" +
                      std::string(style.fill) + "\"";
    if (style.anchor != Anchor::start) out += " text-anchor=\"" + std::string(anchors[static_cast<std::size_t>(style.anchor)]) + "\"";
    if (style.bold) out += " font-weight=\"bold\"";
    return out + ">" + escaped(content) + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, std::string_view stroke, double width) {
    return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) + "\" stroke=\"" +
           std::string(stroke) + "\" stroke-width=\"" + number(width) + "\"/>\n";
}

std::string rectangle(double x, double y, double width, double height, std::string_view fill, std::string_view tip) {
    std::string out = "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) + "\" height=\"" + number(height) +
                      "\" fill=\"" + std::string(fill) + "\"";
    return out + (tip.empty() ? "/>\n" : "><title>" + escaped(tip) + "</title></rect>\n");
}

std::string path(std::string_view steps, std::string_view fill) {
    return "<path d=\"" + std::string(steps) + "\" fill=\"" + std::string(fill) + "\"/>\n";
}

std::string document(double width, double height, const std::string& title, const std::string& body) {
    const std::string size = number(width) + " " + number(height);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" + number(height) + "\" viewBox=\"0 0 " +
           size + "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n<title>" + escaped(title) + "</title>\n" +
           rectangle(0, 0, width, height, "#ffffff") + body + "</svg>\n";
}

double round_step(double range, double count) {
    const double rough = range / count, power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1, 2, 5})
        if (factor * power >= rough) return factor * power;
    return 10 * power;
}

std::string Colour::hex() const {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string text = "#";
    for (const int c : {red, green, blue}) text += {digits[static_cast<std::size_t>(c / 16)], digits[static_cast<std::size_t>(c % 16)]};
    return text;
}

Colour Colour::towards_white(double part) const {
    const auto mixed = [part](int c) { return static_cast<int>(std::lround(c + part * (255 - c))); };
    return {mixed(red), mixed(green), mixed(blue)};
}

// Brightness as ITU-R BT.601 weighs the three.
std::string_view Colour::text_on_it() const { return 0.299 * red + 0.587 * green + 0.114 * blue > 150 ? "#222222" : "#ffffff"; }

}  // namespace sextant::svg
