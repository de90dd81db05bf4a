#include "model/search/stage_split.hpp"

#include <algorithm>
#include <limits>

namespace sextant {
namespace {

// The time of blocks first .. last - 1, from sums over all before each.
struct Sums {
    std::vector<double> before{0};
    explicit Sums(std::span<const Seconds> times) {
        for (const Seconds t : times) before.push_back(before.back() + t.si());
    }
    [[nodiscard]] std::size_t blocks() const { return before.size() - 1; }
    [[nodiscard]] double of(std::size_t first, std::size_t last) const { return before[last] - before[first]; }
};

// Filling stage after stage as far as `most` allows: the slowest stage then, or nothing where blocks are left over.
std::optional<double> filled(const Sums& sums, std::size_t stages, double most) {
    double slowest = 0;
    std::size_t next = 0;
    for (std::size_t s = 0; s < stages; ++s) {
        const std::size_t first = next, last = sums.blocks() - (stages - 1 - s);  // one block at least for each stage that follows
        while (next < last && sums.of(first, next + 1) < most) ++next;
        if (next == first) return {};
        slowest = std::max(slowest, sums.of(first, next));
    }
    if (next < sums.blocks()) return {};
    return slowest;
}

constexpr double equal_times = 1e-9;  // relative: times that differ by less are sums of the same in another order

double slowest_stage(const Sums& sums, std::span<const int> blocks_of_stages) {
    double slowest = 0;
    std::size_t first = 0;
    for (const int n : blocks_of_stages) {
        slowest = std::max(slowest, sums.of(first, first + static_cast<std::size_t>(n)));
        first += static_cast<std::size_t>(n);
    }
    return slowest;
}

// The split with the least sum of the squares of its stages' times, among those without a stage that is slower than `slowest`; there is one
// at least. By dynamic programming over the first s stages that hold the first n blocks.
std::vector<int> most_even_split(const Sums& sums, std::size_t stages, double slowest) {
    constexpr double never = std::numeric_limits<double>::infinity();
    const std::size_t blocks = sums.blocks();
    std::vector<std::vector<double>> least(stages + 1, std::vector<double>(blocks + 1, never));
    std::vector<std::vector<std::size_t>> begins(stages + 1, std::vector<std::size_t>(blocks + 1));
    least[0][0] = 0;
    for (std::size_t s = 1; s <= stages; ++s)
        for (std::size_t n = s; n <= blocks; ++n)
            for (std::size_t from = n; from-- > s - 1;) {
                const double time = sums.of(from, n);
                if (time > slowest * (1 + equal_times)) break;
                const double squares = least[s - 1][from] + time * time;
                if (squares < least[s][n]) {
                    least[s][n] = squares;
                    begins[s][n] = from;
                }
            }
    std::vector<int> split(stages);
    std::size_t end = blocks;
    for (std::size_t s = stages; s > 0; --s) {
        split[s - 1] = static_cast<int>(end - begins[s][end]);
        end = begins[s][end];
    }
    return split;
}

}  // namespace

std::optional<std::vector<int>> balanced_split(std::span<const Seconds> block_times, std::span<const int> even) {
    const Sums sums(block_times);
    const double slowest_when_even = slowest_stage(sums, even);
    double slowest = slowest_when_even;
    while (const auto better = filled(sums, even.size(), slowest * (1 - equal_times))) slowest = *better;
    if (slowest == slowest_when_even) return {};
    return most_even_split(sums, even.size(), slowest);
}

}  // namespace sextant
