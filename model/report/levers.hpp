// The resources that may hold a job back: their names, and what is said where one is the limit.
#pragma once

#include "model/report/report.hpp"

#include <span>

namespace sextant {

struct Lever {
    std::string_view resource;
    BottleneckKind kind;
    double Resources::*field;
    bool less;                                                      // less of it is better
    std::string (*why)(const Prepared&, const Estimate&);           // why it is the limit
    std::string (*value)(const Scenario&, const Lever&, double x);  // x times what there is, in its own unit
    std::string_view advice;                                        // in addition to other settings of the plan (better_settings.hpp)
};

std::span<const Lever> all_levers();

// What would help a job whose ranks wait for slow or late ones; it is not a resource.
inline constexpr std::string_view evenness_of_workers = "evenness of workers";

}  // namespace sextant
