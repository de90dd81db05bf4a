#include "fuzz/targets.hpp"
#include "model/base/diagnostics.hpp"
#include "model/io/trace/trace_hdf5.hpp"
#include "model/report/critical_path.hpp"
#include "model/report/trace_terms.hpp"

// Of some damaged files HDF5 loses what it has read of them.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }  // NOLINT(bugprone-reserved-identifier): the sanitizer's

namespace sextant::fuzz {

// A file as a trace, and what is read off a trace that passed.
void trace(std::string_view input) {
    try {
        const Trace read = trace_from_hdf5(input, "input.h5");
        critical_path(read);
        if (!read.ranks.empty()) overlapped_of(read, last_rank(read));
    } catch (const InputError&) {
    }
}

}  // namespace sextant::fuzz
