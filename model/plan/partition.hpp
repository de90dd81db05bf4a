// How a plan cuts a network: each block's shapes over the ranks of a stage, the blocks over the stages of the pipeline.
#pragma once

#include "model/plan/scenario.hpp"

#include <vector>

namespace sextant {

// The network as one rank sees it. Throws InputError with every problem: shapes that do not divide, more stages than blocks.
Network cut_network(const Scenario&);

// The network for one sample on a device that holds all of it and computes no more than is needed: no score that a mask hides (flash
// attention), no padding of experts.
Network whole_network(const Scenario&);

// The precision policy as the framework keeps it: autocast leaves weights and gradients in fp32 and needs no master copy; main
// gradients may be fp32 beside 16-bit weights. What the plan states about gradients stands.
Precision kept_precision(const Plan&, const Framework&);

// The most devices that the job uses on a node, and the nodes that its ranks fill.
int used_devices_per_node(const Scenario&);
int used_nodes(const Scenario&);
int used_nodes(const Plan&, const Cluster&);
// The cores of each node that the job has: as stated, else in proportion to the devices that it uses or reserves there; all of them where
// the cores are the devices. 0: not known.
int cores_of_job(const Scenario&);

// Parameter servers, each with an equal share of the parameters: one on each node at least where they share the workers' hosts.
int parameter_server_count(const Scenario&);
// The node of a server: one of the workers', or one after theirs.
int node_of_server(const Scenario&, int server);

// The number of blocks of each virtual stage (VirtualStages): as the plan says, else as even as possible.
std::vector<int> blocks_per_virtual_stage(const Network&, const Plan&);

// How many of a stage's layers, counted from its first, run forward again.
int recomputed_layers(const Plan&, int layers);

// What one pipeline stage holds, all its virtual stages together.
struct StageBlocks {
    std::vector<int> count;     // by template
    int layers = 0;             // blocks of role layer
    int recomputed_layers = 0;  // of those, how many run forward again
    bool has_input = false;

    bool operator==(const StageBlocks&) const = default;
};

std::vector<StageBlocks> split_stages(const Network&, const Plan&);

}  // namespace sextant
