#include "cli/trace_file.hpp"

#include "model/base/diagnostics.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/trace/trace_hdf5.hpp"

namespace sextant {

void write_trace_file(const Trace& trace, const std::filesystem::path& file, const ChromeTraceView& view) {
    if (file.extension() == ".h5" || file.extension() == ".hdf5") return write_trace_hdf5(file, trace);
    if (file.extension() != ".json")
        throw InputError(
            Diagnostic{"--trace " + file.string(), "", "no format is known by this ending", "FILE.json for Perfetto, FILE.h5 for columns"});
    replace_text_file(file, [&](std::ostream& out) { write_chrome_trace(out, trace, view); });
}

}  // namespace sextant
