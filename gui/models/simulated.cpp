#include "gui/models/simulated.hpp"

namespace sextant::gui {
namespace {

std::vector<std::vector<Bytes>> memory_of(const SimulationReport& played) {
    constexpr std::size_t intervals = 600;  // about as many as there are pixels
    std::vector<std::vector<Bytes>> memory;
    for (const MemoryTimeline& m : played.memory) memory.push_back(highest_by_interval(m, played.trace.end, intervals));
    return memory;
}

}  // namespace

Simulated simulated(const Session& session, const PlayListener& listener) {
    try {
        const Scenario scenario = with_resources(session.answer->scenario, session.what_if);
        const auto report = std::make_shared<const SimulationReport>(simulate(scenario, Jitter{}.seed, listener));
        Timeline timeline = lay_out({report, &report->trace}, {report, &report->graph});
        return {report, {}, std::move(timeline), map_of(scenario, report), memory_of(*report)};
    } catch (const InputError& e) {
        return {.problems = e.diagnostics()};
    }
}

}  // namespace sextant::gui
