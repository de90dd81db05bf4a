// What is said about a benchmark of storage, as text for people and as JSON for programs (schema "storage-report/1";
// docs/storage_benchmark.md lists its keys).
#pragma once

#include "model/report/storage_report.hpp"

#include <string>

namespace sextant {

std::string storage_report_to_text(const StorageReport&);
std::string storage_report_to_json(const StorageReport&);

}  // namespace sextant
