#include "tests/properties/few_ranks.hpp"

#include <algorithm>
#include <string>

namespace sextant {

Scenario with_few_ranks(const Scenario& scenario, int most_ranks, std::int64_t most_micro_batches) {
    constexpr int most_halvings = 16;
    for (int halvings = 0; halvings < most_halvings; ++halvings) {
        Scenario s = scenario;
        Plan& p = s.plan;
        for (int* degree : {&p.pp, &p.ep, &p.cp}) *degree = std::max(1, *degree >> halvings);
        if (halvings > 0) p.stage_blocks.clear();
        const std::int64_t samples = std::min(p.global_batch / p.dp, most_micro_batches * p.micro_batch);
        for (; p.dp > 0; --p.dp) {
            p.global_batch = samples * p.dp;
            if (p.devices() <= most_ranks && check_plan(s).empty()) return s;
        }
    }
    throw InputError(Diagnostic{scenario.file, "/plan", "no such plan is possible on " + std::to_string(most_ranks) + " ranks", ""});
}

}  // namespace sextant
