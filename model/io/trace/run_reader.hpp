// Reads what run_writer.hpp writes.
#pragma once

#include "model/graph/run_record.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace sextant {

// Throws InputError with everything that is wrong with the file. The trace of what they return passes check_trace, and there is a
// RankEnvironment for each of its ranks.
RunRecord load_run(const std::filesystem::path&);
RunRecord run_from_text(std::string_view text, const std::string& name);

}  // namespace sextant
