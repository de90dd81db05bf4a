#include "fuzz/targets.hpp"
#include "model/base/diagnostics.hpp"
#include "model/io/trace/profiler_reader.hpp"
#include "model/io/trace/trace_check.hpp"
#include "model/report/trace_terms.hpp"

#include <cstdlib>

namespace sextant::fuzz {

// A document as a trace of torch.profiler; what is made of it must hold together.
void profiler(std::string_view input) {
    try {
        const ProfilerRecord record = profiler_from_text(input, "input.json", {});
        Diagnostics diagnostics;
        check_trace(record.trace, "input.json", diagnostics);
        if (!diagnostics.empty()) std::abort();
        overlapped_of(record.trace, 0);
    } catch (const InputError&) {
    }
}

}  // namespace sextant::fuzz
