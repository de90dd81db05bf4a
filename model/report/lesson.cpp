#include "model/report/lesson.hpp"

#include "model/base/grouped_digits.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

constexpr std::string_view as_percentage = " %";

// A number as the window shows it beside the lesson.
std::string text_of(const NamedQuantity& q, bool percentage) {
    if (percentage) return percent_text(q.si, 2);
    if (!q.words.empty()) return std::string(q.words[static_cast<std::size_t>(q.si)]);
    if (q.table) return format_quantity(q.si, *q.table);
    return q.si == std::round(q.si) ? grouped_digits(q.si) : rounded_digits(q.si);
}

}  // namespace

std::vector<NamedQuantity> lesson_quantities(const Report& before, const Report& after) {
    const std::vector<NamedQuantity> first = named_quantities(before), second = named_quantities(after);
    std::vector<NamedQuantity> all;
    for (const NamedQuantity& q : first) all.emplace_back(q).name.insert(0, "before.");
    for (const NamedQuantity& q : second) {
        all.emplace_back(q).name.insert(0, "after.");
        const auto same = std::ranges::find(first, q.name, &NamedQuantity::name);
        if (same != first.end() && same->si != 0) all.emplace_back("ratio." + q.name, q.si / same->si);
    }
    return all;
}

std::string told(std::string_view text, const std::vector<NamedQuantity>& quantities) {
    std::string out;
    while (!text.empty()) {
        const std::size_t open = std::min(text.find('{'), text.size()), close = text.find('}', open);
        out += text.substr(0, open);
        text.remove_prefix(open);
        if (close == std::string_view::npos) return out.append(text);
        std::string_view name = text.substr(1, close - open - 1);
        const bool percentage = name.ends_with(as_percentage);
        if (percentage) name.remove_suffix(as_percentage.size());
        const auto found = std::ranges::find(quantities, name, &NamedQuantity::name);
        out += found == quantities.end() ? std::string(text.substr(0, close - open + 1)) : text_of(*found, percentage);
        text.remove_prefix(close - open + 1);
    }
    return out;
}

bool same_answer(const Report& a, const Report& b) {
    const std::vector<NamedQuantity> of_a = named_quantities(a), of_b = named_quantities(b);
    constexpr double rounding = 1e-9;  // "10 GB/s" and "80 Gb/s" are the same
    return std::ranges::equal(of_a, of_b, [](const NamedQuantity& x, const NamedQuantity& y) {
        return x.name == y.name && std::abs(x.si - y.si) <= rounding * std::max(std::abs(x.si), std::abs(y.si));
    });
}

}  // namespace sextant
