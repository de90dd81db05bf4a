// Reads what torch.profiler writes of a rank on a GPU (export_chrome_trace; Kineto).
//
// A kernel is of the phase in which the host launched it: the optimizer, a node of autograd (backward), a checkpoint inside one
// (recompute), else forward. It is of the step (ProfilerStep#N) of that instant; a step is from its first kernel to that of the next one,
// so that the last is left out where there are others. Kernels of NCCL are exchanges, waiting for other ranks included; which group they
// serve is what their process group is called, else what the plan leaves (docs/compare.md).
#pragma once

#include "model/graph/profiler_record.hpp"
#include "model/plan/plan.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace sextant {

// Whether a JSON document looks like such a trace rather than a run of ours: cheap, of its beginning alone.
bool looks_like_profiler(const std::filesystem::path&);

// Throw InputError with everything that is wrong with the file. `plan`: of the job.
ProfilerRecord load_profiler(const std::filesystem::path&, const Plan& plan);
ProfilerRecord profiler_from_text(std::string_view text, const std::string& name, const Plan& plan);

}  // namespace sextant
