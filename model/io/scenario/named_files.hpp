// The files that a scenario names: its workload, its cluster.
//
// One rule says where they lie: a name in a file is looked up beside that file, one in --set from where the program runs.
#pragma once

#include "model/io/scenario/scenario_document.hpp"

namespace sextant {

// The words of --set with the files that they name, which lie in a folder, as whole paths.
std::vector<std::string> with_whole_paths(const std::vector<std::string>& overrides,
                                          const std::filesystem::path& folder = std::filesystem::current_path());

// As it has to be written to lie at `file`: what it names beside itself is named so that it is found from there.
ScenarioDocument moved(ScenarioDocument, const std::filesystem::path& file);

}  // namespace sextant
