// Execution traces of Chakra (MLCommons), which ASTRA-sim plays: a file for each rank, name.RANK.et, of messages of Protocol Buffers with
// their lengths before them: metadata, then a node each (github.com/mlcommons/chakra, schema/protobuf/et_def.proto). Packed with gzip or
// not.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/graph/execution_trace.hpp"

#include <filesystem>
#include <string_view>
#include <vector>

namespace sextant {

// The files of a trace: as they are named, or PREFIX.0.et, PREFIX.1.et ... of a prefix. In the order of the ranks that their names end
// with; of one file alone, and where names do not say, in that of their naming. Adds a Diagnostic where ranks are missing or twice there.
std::vector<std::filesystem::path> chakra_files(const std::vector<std::filesystem::path>& named, Diagnostics&);

// Throws InputError with every problem of every file, "/node/ID" or the byte as its place. `groups`: ASTRA-sim's file of process groups,
// {"1": [0, 2], ...}; empty: none. `nodes`: a file with the node of each rank, [0, 1, 0, 1]; empty: none.
ExecutionTrace load_chakra(const std::vector<std::filesystem::path>& named, const std::filesystem::path& groups,
                           const std::filesystem::path& nodes);

// What a rank's file holds, one of `ranks`.
RecordedRank read_chakra(std::string_view bytes, const std::string& file, int rank, int ranks, Diagnostics&);
std::map<std::string, std::vector<int>> read_chakra_groups(std::string_view json, const std::string& file, int ranks, Diagnostics&);
std::vector<int> read_chakra_nodes(std::string_view json, const std::string& file, int ranks, Diagnostics&);

}  // namespace sextant
