#include "model/io/calibration/benchmark_log.hpp"
#include "fuzz/targets.hpp"
#include "model/io/calibration/gpu_topology.hpp"
#include "model/io/calibration/step_times.hpp"

namespace sextant::fuzz {

// Each of the readers meets every log, whoever it is of.
void benchmark_log(std::string_view input) {
    Diagnostics diagnostics;
    kind_of_log(input);
    read_nccl_tests(input, "log.txt", diagnostics);
    read_osu(input, "log.txt", diagnostics);
    step_times_from_text(input, "steps.json", diagnostics);
    Diagnostics of_topology;
    const GpuTopology topology = read_gpu_topology(input, "topo.txt", of_topology);
    if (!of_topology.empty()) return;
    Cluster cluster;
    cluster.node.peers.layout = PeerLayout::all_to_all;
    cluster.node.nics = 1;
    apply(topology, cluster, of_topology);
}

}  // namespace sextant::fuzz
