// The numbers behind those terms that are neither kernels nor exchanges: the update, the host, host
// memory, slower ranks. Part of explain().
#pragma once

#include "model/predict/step_price.hpp"

#include <string>
#include <vector>

namespace sextant {

struct ExplainedStage {
    const Prepared::State& job;
    const StagePrice& price;
    std::size_t stage = 0;
};
std::vector<std::string> optimizer_lines(const ExplainedStage&);
std::vector<std::string> launch_lines(const ExplainedStage&);
std::vector<std::string> offload_lines(const ExplainedStage&);
std::vector<std::string> straggler_lines(const ExplainedStage&);
std::vector<std::string> overhead_lines(const ExplainedStage&);

}  // namespace sextant
