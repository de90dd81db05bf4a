// A program of torch.export (PyTorch 2.5 and later) as a workload: whatever network a module is, operator by operator.
//
//     program = torch.export.export(module, example_inputs)
//     torch.export.save(program, "model.pt2")
//
// docs/model/traced_networks.md says what is read, and how.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/workload/workload.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace sextant {

// Throws InputError with every problem: a file that is none, calls that no operator is known for, nothing that depends on an input.
Workload import_torch(const std::filesystem::path&);
Workload import_torch(std::string_view json, const std::string& file);  // of the archive's models/model.json

}  // namespace sextant
