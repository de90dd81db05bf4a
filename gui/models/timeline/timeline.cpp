#include "gui/models/timeline/timeline.hpp"

#include "gui/models/stated_schema.hpp"
#include "model/io/trace/run_reader.hpp"
#include "model/io/trace/trace_hdf5.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace sextant::gui {

Timeline lay_out(std::shared_ptr<const Trace> trace, std::shared_ptr<const TaskGraph> graph) {
    CriticalPath path = critical_path(*trace);
    TimeByKind by_kind;
    for (const Span& s : trace->spans) by_kind[s.kind] += s.end - s.start;
    Lanes lanes(*trace);
    Lanes critical(*trace, lanes, path.spans);
    return {std::move(trace), std::move(graph), std::move(path), by_kind, std::move(lanes), std::move(critical)};
}

void give_back(const Timeline& timeline) {
    constexpr std::size_t part = 4 << 20;
    const std::vector<Span>& spans = timeline.trace->spans;
    void* from = const_cast<Span*>(spans.data());
    std::size_t bytes = spans.size() * sizeof(Span);
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (; std::align(page, part, from, bytes); bytes -= part, from = static_cast<char*>(from) + part) madvise(from, part, MADV_DONTNEED);
}

bool holds_measurement(const std::filesystem::path& path) { return path.extension() == ".h5" || states_schema(path, "run/1"); }

Measured read_measurement(const std::filesystem::path& path) {
    if (path.extension() == ".h5") return {path, nullptr, lay_out(std::make_shared<const Trace>(read_trace_hdf5(path)))};
    const auto run = std::make_shared<const RunRecord>(load_run(path));
    return {path, run, lay_out({run, &run->trace})};
}

}  // namespace sextant::gui
