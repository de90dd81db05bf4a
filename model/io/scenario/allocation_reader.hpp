// What a job was given of its nodes: `reserved_devices` and `cores` of a scenario's hardware.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/plan/scenario.hpp"

namespace sextant {

void read_allocation(ObjectReader& hardware, Scenario&);

// Where devices are CPUs, and the job has fewer cores than its devices on a node: they compute at that part of their rates. Says so among
// the scenario's assumptions.
void leave_part_of_cores(Scenario&);

}  // namespace sextant
