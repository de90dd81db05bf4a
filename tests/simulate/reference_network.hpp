// Max-min fair rates the slow and plain way, to check the fast one against.
#pragma once

#include "model/simulate/fluid_network.hpp"

#include <vector>

namespace sextant::reference {

struct Flow {
    std::vector<LinkUse> uses;
    double limit = 0;  // bytes per second
};

// Progressive filling as in the textbook: raise the rates of all flows that are free to grow until a link is full or a flow at its limit;
// those stay; again, until none is free.
inline std::vector<double> fair_rates(const std::vector<double>& capacities, const std::vector<Flow>& flows) {
    std::vector<double> rates(flows.size(), 0);
    std::vector<bool> stays(flows.size(), false);
    const auto load = [&](std::size_t link, bool growth) {
        double sum = 0;
        for (std::size_t f = 0; f < flows.size(); ++f)
            for (const LinkUse& use : flows[f].uses)
                if (use.link == link) sum += use.weight * (growth ? (stays[f] ? 0.0 : 1.0) : rates[f]);
        return sum;
    };
    for (;;) {
        double step = -1;  // by which all free rates may grow
        const auto at_most = [&](double most) { step = step < 0 || most < step ? most : step; };
        for (std::size_t f = 0; f < flows.size(); ++f)
            if (!stays[f]) at_most(flows[f].limit - rates[f]);
        if (step < 0) return rates;
        for (std::size_t l = 0; l < capacities.size(); ++l)
            if (load(l, true) > 0) at_most((capacities[l] - load(l, false)) / load(l, true));
        for (std::size_t f = 0; f < flows.size(); ++f)
            if (!stays[f]) rates[f] += step;
        std::vector<bool> full(capacities.size());
        for (std::size_t l = 0; l < capacities.size(); ++l) full[l] = load(l, false) >= capacities[l] * (1 - 1e-12);
        for (std::size_t f = 0; f < flows.size(); ++f) {
            if (rates[f] >= flows[f].limit * (1 - 1e-12)) stays[f] = true;
            for (const LinkUse& use : flows[f].uses)
                if (full[use.link]) stays[f] = true;
        }
    }
}

}  // namespace sextant::reference
