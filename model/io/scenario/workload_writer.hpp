// A workload as JSON of schema "workload/1", which read_workload_file reads back.
#pragma once

#include "model/workload/workload.hpp"

#include <string>

namespace sextant {

std::string write_workload(const Workload&);

}  // namespace sextant
