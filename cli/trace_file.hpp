// --trace FILE: the ending of its name says in which format.
#pragma once

#include "model/io/trace/trace_chrome.hpp"

#include <filesystem>
#include <span>
#include <vector>

namespace sextant {

// Before the work whose timeline it is for: FILE.json for Perfetto, FILE.h5 as columns. Throws InputError for another ending, and as
// check_writable does.
void check_trace_file(const std::filesystem::path& file);

// Likewise, of a prediction above a measurement: for Perfetto only.
void check_timelines_file(const std::filesystem::path& file);

// A file that was checked. For Perfetto, what devices, links and memory are used of is counted beside the spans.
void write_trace_file(const Trace&, const std::filesystem::path& file, const std::vector<UtilizationSeries>& devices = {},
                      const std::vector<UtilizationSeries>& links = {}, std::span<const MemoryTimeline> memory = {});

}  // namespace sextant
