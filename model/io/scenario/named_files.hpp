// The files that a scenario names: its workload, its cluster.
//
// One rule says where they lie: a name in a file is looked up beside that file, one in --set from where the program runs.
#pragma once

#include "model/io/scenario/scenario_document.hpp"

namespace sextant {

// The words of --set, with the files that they name written as whole paths. Names are looked up in the given folder.
std::vector<std::string> with_whole_paths(const std::vector<std::string>& overrides,
                                          const std::filesystem::path& folder = std::filesystem::current_path());

// The document as it has to be written to `file`: what it names beside itself is renamed so that it is found from there.
ScenarioDocument moved(ScenarioDocument, const std::filesystem::path& file);

}  // namespace sextant
