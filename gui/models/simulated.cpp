#include "gui/models/simulated.hpp"

namespace sextant::gui {

Simulated simulated(const Answer& answer, const PlayListener& listener) {
    try {
        const auto report = std::make_shared<const SimulationReport>(simulate(answer.job, Jitter{}.seed, listener));
        Timeline timeline = lay_out({report, &report->trace}, {report, &report->graph});
        return {report, {}, std::move(timeline), map_of(answer.scenario(), report)};
    } catch (const InputError& e) {
        return {nullptr, e.diagnostics(), {}, nullptr};
    }
}

}  // namespace sextant::gui
