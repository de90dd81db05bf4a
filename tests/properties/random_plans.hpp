// Plans drawn at random over models, clusters, frameworks and every dimension of a plan, among those that check_plan accepts.
#pragma once

#include "model/sextant.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sextant {

struct RandomPlan {
    std::vector<std::string> overrides;  // of scenarios/mixtral-8x7b-128xh100.json, as `--set` takes them
    Scenario scenario;
};

std::vector<RandomPlan> random_plans(std::uint64_t seed, int how_many);

}  // namespace sextant
