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
        const Prepared& job = session.answer->job;
        const auto report = std::make_shared<const SimulationReport>(simulate(job, Jitter{}.seed, listener));
        if (listener && !listener(1)) throw Stopped();
        Timeline timeline = lay_out({report, &report->trace}, {report, &report->graph});
        return {report, {}, std::move(timeline), map_of(job.scenario(), report), memory_of(*report)};
    } catch (const InputError& e) {
        return {.problems = e.diagnostics()};
    }
}

}  // namespace sextant::gui
