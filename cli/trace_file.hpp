// --trace FILE: the suffix of the name chooses the format.
#pragma once

#include "model/io/trace/trace_chrome.hpp"

#include <filesystem>
#include <span>
#include <vector>

namespace sextant {

// To be called before the long work: FILE.json is for Perfetto, FILE.h5 has columns. Throws InputError for another suffix, and otherwise as
// check_writable() does.
void check_trace_file(const std::filesystem::path& file);

// The same for a prediction above a measurement, which is for Perfetto only.
void check_timelines_file(const std::filesystem::path& file);

// Writes a file that was checked. For Perfetto, the use of devices, links and memory is shown beside the spans.
void write_trace_file(const Trace&, const std::filesystem::path& file, const std::vector<UtilizationSeries>& devices = {},
                      const std::vector<UtilizationSeries>& links = {}, std::span<const MemoryTimeline> memory = {});

}  // namespace sextant
