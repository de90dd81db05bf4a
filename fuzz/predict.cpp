#include "fuzz/targets.hpp"
#include "model/io/report_writer.hpp"
#include "model/sextant.hpp"

#include <cmath>
#include <cstdlib>

namespace sextant::fuzz {
namespace {

void require(bool sound) {
    if (!sound) std::abort();
}
void require_sound(double value) { require(std::isfinite(value) && value >= 0); }

}  // namespace

// A scenario that names anything of the bundled profiles and frameworks. What is accepted has an answer, and one of finite numbers.
void predict(std::string_view input) {
    static Library library = open_library();
    Diagnostics diagnostics;
    const JsonFile file = JsonFile::from_text(input, "input.json", diagnostics);
    const Scenario scenario = read_scenario(file, sources(library, diagnostics), diagnostics);
    if (!diagnostics.empty()) return;
    try {
        const Report report = sextant::predict(scenario);
        for (const Terms& terms : {report.estimate.terms, report.estimate.overlapped})
            for (const Seconds term : terms.of) require_sound(term.si());
        for (const StageMemory& stage : report.estimate.memory)
            for (const Bytes bytes : stage.of) require_sound(bytes.si());
        require(report.estimate.step > Seconds{});
        for (const NamedQuantity& q : named_quantities(report)) require(std::isfinite(q.si));
        report_to_text(report);
        report_to_json(report);
    } catch (const InputError&) {
        // a plan that the network or the machine does not allow
    }
}

}  // namespace sextant::fuzz
