#include "model/hardware/ring_packing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sextant {
namespace {

using Matrix = std::vector<std::vector<int>>;
using Cycle = std::vector<int>;

constexpr int listed_members = 8;       // 7! / 2 = 2,520 cycles at most
constexpr int search_budget = 200'000;  // steps of one search for a cycle beyond that
constexpr double tolerance = 1e-9;

// Walks over pairs with links from member 0 and calls visit(cycle) for each cycle; visit returns whether to go on.
template <class Visit>
class CycleSearch {
public:
    CycleSearch(const Matrix& count, int budget, Visit visit) : count_(count), budget_(budget), visit_(visit), used_(count.size()) {
        path_ = {0};
        used_[0] = true;
    }
    void run() { extend(); }

private:
    bool extend() {
        if (budget_-- <= 0) return false;
        const int last = path_.back();
        if (path_.size() == count_.size()) {
            // Each cycle is met in both directions; one is enough.
            const bool first_direction = path_[1] <= last;
            return !(first_direction && count_[last][0] > 0) || visit_(path_);
        }
        for (int next = 1; next < std::ssize(count_); ++next) {
            if (used_[next] || count_[last][next] < 1) continue;
            path_.push_back(next);
            used_[next] = true;
            const bool go_on = extend();
            used_[next] = false;
            path_.pop_back();
            if (!go_on) return false;
        }
        return true;
    }

    const Matrix& count_;
    int budget_;
    Visit visit_;
    std::vector<bool> used_;
    Cycle path_;
};

// Pairs a < b that have links, numbered.
struct Pairs {
    explicit Pairs(const Matrix& count) : number(count.size(), std::vector<int>(count.size())) {
        for (std::size_t a = 0; a < count.size(); ++a)
            for (std::size_t b = a + 1; b < count.size(); ++b)
                if (count[a][b] > 0) {
                    number[a][b] = number[b][a] = static_cast<int>(capacity.size());
                    capacity.push_back(count[a][b]);
                }
    }
    [[nodiscard]] std::vector<int> crossed_by(const Cycle& cycle) const {
        std::vector<int> pairs;
        for (std::size_t i = 0; i < cycle.size(); ++i) pairs.push_back(number[cycle[i]][cycle[(i + 1) % cycle.size()]]);
        return pairs;
    }
    Matrix number;
    std::vector<double> capacity;
};

// Maximise the sum of x over the columns, each column taking x from the rows that it lists, no row giving more than its capacity.
// Revised simplex: `inverse` is that of the basis; variables are the columns, then one slack per row, which start as the basis.
class Packing {
public:
    Packing(const std::vector<std::vector<int>>& columns, std::vector<double> capacity)
        : columns_(columns), value_(std::move(capacity)), rows_(static_cast<int>(value_.size())), basis_(rows_), inverse_(rows_) {
        std::iota(basis_.begin(), basis_.end(), static_cast<int>(columns_.size()));
        for (int r = 0; r < rows_; ++r) {
            inverse_[r].assign(rows_, 0.0);
            inverse_[r][r] = 1;
        }
    }

    std::vector<double> solve() {
        bool stalled = false;
        for (int entering = choose(stalled); entering >= 0; entering = choose(stalled)) stalled = pivot(entering) < tolerance;
        std::vector<double> weights(columns_.size());
        for (int r = 0; r < rows_; ++r)
            if (basis_[r] < std::ssize(columns_)) weights[basis_[r]] = value_[r];
        return weights;
    }

private:
    // The variable that gains most per unit; after a step without gain the first that gains at all (Bland), so that it ends.
    [[nodiscard]] int choose(bool first) const {
        std::vector<double> price(rows_);
        for (int r = 0; r < rows_; ++r)
            if (basis_[r] < std::ssize(columns_))
                for (int k = 0; k < rows_; ++k) price[k] += inverse_[r][k];
        int best = -1;
        double most = tolerance;
        const auto consider = [&](int variable, double gain) {
            if (gain <= most || (first && best >= 0)) return;
            best = variable;
            most = gain;
        };
        for (int c = 0; c < std::ssize(columns_); ++c) {
            double gain = 1;
            for (const int row : columns_[c]) gain -= price[row];
            consider(c, gain);
        }
        for (int r = 0; r < rows_; ++r) consider(static_cast<int>(columns_.size()) + r, -price[r]);
        return best;
    }

    // Brings the variable into the basis; returns how far it went.
    double pivot(int entering) {
        std::vector<double> direction(rows_);
        for (int r = 0; r < rows_; ++r) {
            if (entering >= std::ssize(columns_))
                direction[r] = inverse_[r][entering - static_cast<int>(columns_.size())];
            else
                for (const int row : columns_[entering]) direction[r] += inverse_[r][row];
        }
        int leaving = -1;
        for (int r = 0; r < rows_; ++r) {
            if (direction[r] <= tolerance) continue;
            const double step = value_[r] / direction[r];
            const double least = leaving < 0 ? 0 : value_[leaving] / direction[leaving];
            if (leaving < 0 || step < least || (step == least && basis_[r] < basis_[leaving])) leaving = r;
        }
        const double step = value_[leaving] / direction[leaving];  // every variable takes from some row, so one leaves
        for (double& x : inverse_[leaving]) x /= direction[leaving];
        for (int r = 0; r < rows_; ++r) {
            if (r == leaving) continue;
            value_[r] -= step * direction[r];
            for (int k = 0; k < rows_; ++k) inverse_[r][k] -= direction[r] * inverse_[leaving][k];
        }
        value_[leaving] = step;
        basis_[leaving] = entering;
        return step;
    }

    const std::vector<std::vector<int>>& columns_;
    std::vector<double> value_;  // of the basic variables
    int rows_;
    std::vector<int> basis_;
    std::vector<std::vector<double>> inverse_;
};

struct WeightedCycle {
    Cycle cycle;
    double weight = 0;
};

std::vector<WeightedCycle> pack_exactly(const Matrix& count) {
    std::vector<WeightedCycle> cycles;
    CycleSearch(count, std::numeric_limits<int>::max(), [&](const Cycle& cycle) {
        cycles.push_back({cycle});
        return true;
    }).run();
    const Pairs pairs(count);
    std::vector<std::vector<int>> columns;
    columns.reserve(cycles.size());
    for (const auto& c : cycles) columns.push_back(pairs.crossed_by(c.cycle));
    const std::vector<double> weights = Packing(columns, pairs.capacity).solve();
    for (std::size_t i = 0; i < cycles.size(); ++i) cycles[i].weight = weights[i];
    std::erase_if(cycles, [](const WeightedCycle& c) { return c.weight < tolerance; });
    return cycles;
}

std::vector<WeightedCycle> pack_greedily(Matrix count) {
    std::vector<WeightedCycle> cycles;
    for (bool found = true; found;) {
        found = false;
        CycleSearch(count, search_budget, [&](const Cycle& cycle) {
            cycles.push_back({cycle, 1});
            found = true;
            return false;
        }).run();
        if (!found) break;
        const Cycle& cycle = cycles.back().cycle;
        for (std::size_t i = 0; i < cycle.size(); ++i) {
            const int a = cycle[i], b = cycle[(i + 1) % cycle.size()];
            count[b][a] = --count[a][b];
        }
    }
    return cycles;
}

RingBundle equal_share(int members, int count) {
    const auto n = static_cast<std::size_t>(members);
    RingBundle bundle{static_cast<double>(count) * (members - 1), std::vector<int>(n), std::vector<double>(n * n)};
    std::iota(bundle.order.begin(), bundle.order.end(), 0);
    for (int a = 0; a < members; ++a)
        for (int b = 0; b < members; ++b)
            if (a != b) bundle.use[a * members + b] = 1.0 / (members - 1);
    return bundle;
}

}  // namespace

std::optional<RingBundle> pack_rings(const Matrix& count) {
    const int members = static_cast<int>(count.size());
    bool equal = true;
    for (int a = 0; a < members; ++a)
        for (int b = 0; b < members; ++b) equal = equal && (a == b || count[a][b] == count[0][1]);
    if (equal) return count[0][1] > 0 ? std::optional(equal_share(members, count[0][1])) : std::nullopt;

    const auto cycles = members <= listed_members ? pack_exactly(count) : pack_greedily(count);
    if (cycles.empty()) return std::nullopt;
    RingBundle bundle;
    for (const auto& c : cycles) bundle.links += 2 * c.weight;
    bundle.order = std::ranges::max_element(cycles, {}, &WeightedCycle::weight)->cycle;
    bundle.use.resize(count.size() * count.size());
    for (const auto& [cycle, weight] : cycles) {
        for (int i = 0; i < members; ++i) {
            const int a = cycle[i], b = cycle[(i + 1) % members];
            bundle.use[a * members + b] += weight / bundle.links;
            bundle.use[b * members + a] += weight / bundle.links;
        }
    }
    return bundle;
}

}  // namespace sextant
