#include "model/report/condition.hpp"
#include "fuzz/targets.hpp"

namespace sextant::fuzz {

// What --fail-if is given, held against a report that has every quantity.
void condition(std::string_view input) {
    Report report;
    report.estimate.step = Seconds::from_si(1);
    report.tokens_per_s = Frequency::from_si(1);
    report.run.emplace().cost.emplace();
    try {
        holds(parse_condition(input), report);
    } catch (const InputError&) {
        // refused, as most texts are
    }
}

}  // namespace sextant::fuzz
