#include "model/predict/link_sharing.hpp"

#include <algorithm>
#include <limits>

namespace sextant {

void keep(std::vector<SharedLink>& links, SharedLink link) {
    constexpr double rounding = 1 + 1e-9;
    const auto covers = [](const SharedLink& a, const SharedLink& b) { return a.one * rounding >= b.one && a.other * rounding >= b.other; };
    if (std::ranges::any_of(links, [&](const SharedLink& known) { return covers(known, link); })) return;
    std::erase_if(links, [&](const SharedLink& known) { return covers(link, known); });
    links.push_back(link);
}

Slowed side_by_side(std::span<const SharedLink> links) {
    double one = 0, other = 0, both = 0;  // seconds for a byte: of each alone, and of both, over the link that holds them up most
    SharedLink full;
    for (const SharedLink& l : links) {
        one = std::max(one, l.one);
        other = std::max(other, l.other);
        if (l.one + l.other > both) {
            both = l.one + l.other;
            full = l;
        }
    }
    if (!(one > 0) || !(other > 0)) return {};
    // Both rates rise until the first link is full. If only one exchange crosses that link, the other's rate goes on rising.
    const double level = 1 / both;
    const auto rate = [&](double SharedLink::*mine, double SharedLink::*theirs) {
        if (full.*mine > 0) return level;
        double fastest = std::numeric_limits<double>::infinity();
        for (const SharedLink& l : links)
            if (l.*mine > 0) fastest = std::min(fastest, (1 - l.*theirs * level) / (l.*mine));
        return fastest;
    };
    return {1 / (one * rate(&SharedLink::one, &SharedLink::other)), 1 / (other * rate(&SharedLink::other, &SharedLink::one))};
}

}  // namespace sextant
