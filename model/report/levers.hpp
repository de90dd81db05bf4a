// The resources that may hold a job back: what each is called, and what is said where it is the limit.
#pragma once

#include "model/report/report.hpp"

#include <span>

namespace sextant {

struct Lever {
    std::string_view resource;
    BottleneckKind kind;
    double Resources::*field;
    bool less;                                                      // better is less of it
    std::string (*why)(const Prepared&, const Estimate&);           // it is the limit
    std::string (*value)(const Scenario&, const Lever&, double x);  // x times of what there is, in its own unit
    std::string_view advice;  // beside other settings of the plan, which are priced (better_settings.hpp)
};

std::span<const Lever> all_levers();

// What moves a job beside them whose ranks wait for slow or late ones.
inline constexpr std::string_view evenness_of_workers = "evenness of workers";

}  // namespace sextant
