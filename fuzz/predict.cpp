#include "fuzz/targets.hpp"
#include "model/io/report/report_writer.hpp"
#include "model/io/report/simulation_writer.hpp"
#include "model/io/trace/timeline_svg.hpp"
#include "model/sextant.hpp"

#include <cmath>
#include <cstdlib>

namespace sextant::fuzz {
namespace {

void require(bool sound) {
    if (!sound) std::abort();
}
void require_sound(double value) { require(std::isfinite(value) && value >= 0); }

void require_sound(const Report& report) {
    for (const Terms& terms : {report.estimate.terms, report.estimate.overlapped})
        for (const Seconds term : terms) require_sound(term.si());
    for (const StageMemory& stage : report.estimate.memory)
        for (const Bytes bytes : stage) require_sound(bytes.si());
    require(report.estimate.step > Seconds{});
    for (const NamedQuantity& q : named_quantities(report)) require(std::isfinite(q.si));
}

// Small enough that thousands are played in a minute.
bool is_small(const Plan& plan) { return plan.devices() <= 32 && plan.micro_batches() <= 16; }

}  // namespace

// A scenario that names anything of the bundled profiles and frameworks. What is accepted has an answer, and one of finite numbers.
void predict(std::string_view input) {
    static Library library = open_library();
    Diagnostics diagnostics;
    const JsonFile file = JsonFile::from_text(input, "input.json", diagnostics);
    const Scenario scenario = read_scenario(file, sources(library), diagnostics);
    if (!diagnostics.empty()) return;
    try {
        const Report report = sextant::predict(scenario);
        require_sound(report);
        report_to_text(report);
        report_to_json(report);
        if (!is_small(scenario.plan)) return;
        const SimulationReport simulated = simulate(scenario);
        require_sound(simulated.report);
        simulation_to_text(simulated);
        simulation_to_json(simulated);
        TimelinePicture picture;
        picture.title = scenario.name;
        picture.memory = simulated.memory;
        timeline_svg(simulated.trace, picture);
    } catch (const InputError&) {
        // a plan that the network or the machine does not allow
    }
}

}  // namespace sextant::fuzz
