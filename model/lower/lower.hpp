// From a scenario to the task graph of one training step: what each rank does in which order, and what waits for what. No prices.
//
// One file per plan dimension: ranks.cpp (who stands for whom, and the communicators), pipeline.cpp (the schedule and its transfers),
// replicated.cpp (gradient buckets, ZeRO 1 and 2), sharded.cpp (ZeRO 3 / FSDP), servers.cpp (parameter servers). Tensor, context and expert
// parallelism are exchanges inside the blocks, where the network has them. docs/model/lowering.md shows each graph.
#pragma once

#include "model/graph/task_graph.hpp"
#include "model/plan/scenario.hpp"

namespace sextant {

// Ranks of one pipeline stage do the same at the same time unless something makes them differ, so one of them can stand for all.
enum class Fold { alike, nothing };

// `alike` where the ranks of a stage do the same: no noise, no stragglers, no asynchronous workers. Whether they also share links alike, a
// simulation says (Simulation::folded_alike in model/simulate/simulate.hpp).
Fold possible_fold(const Scenario&);

// Throws InputError when the plan is impossible, or when its graph would be larger than memory can be expected to hold. The caller may fold
// where possible_fold() would not.
TaskGraph lower(const Scenario&, Fold);

}  // namespace sextant
