// A workload as JSON of schema "workload/1", which read_workload_file reads back.
#pragma once

#include "model/workload/workload.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace sextant {

std::string write_workload(const Workload&);

// The sizes of the second network that are not those of the first, as they stand in a file; none where it is of another kind.
nlohmann::ordered_json changed_fields(const Workload& from, const Workload& to);

}  // namespace sextant
