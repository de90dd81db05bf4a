// --trace FILE: the ending of its name says in which format.
#pragma once

#include "model/io/trace/trace_chrome.hpp"

#include <filesystem>

namespace sextant {

// FILE.json for Perfetto, FILE.h5 as columns. Throws InputError for another ending.
void write_trace_file(const Trace&, const std::filesystem::path& file, const ChromeTraceView& = {});

}  // namespace sextant
