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

Slowed side_by_side(std::span<const SharedLink> links, double efficiency_of_one, double efficiency_of_other) {
    double one = 0, other = 0, both = 0;  // of the link that holds up each, and the two of them, most
    const SharedLink* full = nullptr;
    for (const SharedLink& l : links) {
        const double a = l.one / efficiency_of_one, b = l.other / efficiency_of_other;
        one = std::max(one, a);
        other = std::max(other, b);
        if (a + b > both) both = a + b, full = &l;
    }
    if (!full || !(one > 0) || !(other > 0)) return {};
    // Both rise to the rate at which the first link is full. If only one of them crosses it, the other goes on rising.
    const double level = 1 / both;
    double rate_of_one = level, rate_of_other = level;
    const auto rest = [&](double SharedLink::*mine, double my_efficiency, double SharedLink::*theirs, double their_efficiency) {
        double rate = std::numeric_limits<double>::infinity();
        for (const SharedLink& l : links)
            if (l.*mine > 0) rate = std::min(rate, (1 - l.*theirs / their_efficiency * level) / (l.*mine / my_efficiency));
        return rate;
    };
    if (full->one == 0) rate_of_one = rest(&SharedLink::one, efficiency_of_one, &SharedLink::other, efficiency_of_other);
    if (full->other == 0) rate_of_other = rest(&SharedLink::other, efficiency_of_other, &SharedLink::one, efficiency_of_one);
    return {1 / (one * rate_of_one), 1 / (other * rate_of_other)};
}

}  // namespace sextant
