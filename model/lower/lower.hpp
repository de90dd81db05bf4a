// From a scenario to the task graph of one training step: what each rank does in which order, and what waits for what. No prices.
//
// One file per plan dimension: ranks.cpp (who stands for whom, and the communicators), pipeline.cpp (the schedule and its transfers),
// replicated.cpp (gradient buckets, ZeRO 1 and 2), sharded.cpp (ZeRO 3 / FSDP), servers.cpp (parameter servers). Tensor, context and expert
// parallelism are exchanges inside the blocks, where the network has them. docs/model/lowering.md shows each graph.
#pragma once

#include "model/graph/task_graph.hpp"
#include "model/plan/scenario.hpp"

namespace sextant {

// Ranks of one pipeline stage do the same at the same time, unless something makes them differ: one of them then stands for all.
enum class Fold { alike, nothing };

// Whether the ranks of a stage are alike: no noise, no straggler, nobody who goes on without the others. Whether they share links alike,
// a simulation says (Simulation::folded_alike in model/simulate/simulate.hpp).
Fold possible_fold(const Scenario&);

// Throws InputError when the plan is impossible, and when its graph would be larger than memory can be expected to hold. Folding what
// possible_fold would not is the caller's decision.
TaskGraph lower(const Scenario&, Fold);

}  // namespace sextant
