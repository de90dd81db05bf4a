#include "cli/trace_file.hpp"

#include "cli/writable.hpp"
#include "model/base/diagnostics.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/trace/trace_hdf5.hpp"

namespace sextant {

namespace {

bool has_columns(const std::filesystem::path& file) { return file.extension() == ".h5" || file.extension() == ".hdf5"; }

}  // namespace

void check_trace_file(const std::filesystem::path& file) {
    if (!file.empty() && !has_columns(file) && file.extension() != ".json")
        throw InputError(
            Diagnostic{"--trace " + file.string(), "", "no format is known by this ending", "FILE.json for Perfetto, FILE.h5 for columns"});
    check_writable(file);
}

void check_timelines_file(const std::filesystem::path& file) {
    if (file.has_extension() && file.extension() != ".json")
        throw InputError(Diagnostic{"--trace " + file.string(), "", "two timelines are written for Perfetto", "a name that ends in .json"});
    check_writable(file);
}

void write_trace_file(const Trace& trace, const std::filesystem::path& file, const std::vector<UtilizationSeries>& devices,
                      const std::vector<UtilizationSeries>& links, std::span<const MemoryTimeline> memory) {
    if (has_columns(file)) return write_trace_hdf5(file, trace);
    std::vector<UtilizationSeries> utilization = devices;
    utilization.insert(utilization.end(), links.begin(), links.end());
    replace_text_file(file, [&](std::ostream& out) { write_chrome_trace(out, trace, {memory, utilization}); });
}

}  // namespace sextant
