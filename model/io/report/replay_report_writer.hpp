// A replayed execution trace as text for people and as JSON for programs (schema "replay/1"; docs/replay.md lists its keys).
#pragma once

#include "model/report/replay_report.hpp"

#include <string>

namespace sextant {

std::string replay_report_to_text(const ReplayReport&);
std::string replay_report_to_json(const ReplayReport&);

}  // namespace sextant
