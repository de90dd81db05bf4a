// What a search is to leave as it is: names of a plan's fields, or fields with a value ("tp=8").
#pragma once

#include "model/search/plan_space.hpp"

#include <string>

namespace sextant {

// The fields that the scenario itself pins (its key "pinned").
std::set<PlanField> pinned_fields(const Scenario&);

// Gives the plan the pin's value, where it has one. Throws InputError for what is no field of a plan, and for what cannot be its value.
PlanField read_pin(const std::string& pin, Plan&);

// With all pins read: data parallelism, unless it is pinned too, follows, so that the plan stays one of so many devices where they divide.
void follow_pins(Plan&, const std::set<PlanField>& pinned, int devices);

}  // namespace sextant
