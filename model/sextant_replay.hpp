// The facade of execution traces: recorded elsewhere, played on a machine of the library.
#pragma once

#include "model/report/replay_report.hpp"
#include "model/sextant.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace sextant {

struct ReplayRequest {
    std::vector<std::filesystem::path> files;  // one for each rank, or a prefix of them (model/io/chakra/chakra_reader.hpp)
    std::filesystem::path groups;              // process groups; empty: ranks that call a collective of the same name
    std::filesystem::path nodes;               // of the ranks; empty: they fill one node after the other
    std::string hardware;                      // of a cluster
    std::string library = "nccl";
    std::string precision = "bf16";  // of kernels whose time the trace does not have
};

// The ranks of a node stand on its devices in order. Throws InputError with every problem of the files, or where the cluster has fewer
// nodes, or devices in one, than the trace has ranks for.
ReplayReport replay(Library&, const ReplayRequest&);
ReplayReport replay(const ExecutionTrace&, const Cluster&, const CommunicationLibrary&, DataType = DataType::bf16);

}  // namespace sextant
