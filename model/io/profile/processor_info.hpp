// What Linux tells of the processor. /proc/cpuinfo has a paragraph for each core, a line for each fact.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

// The value that stands behind a word for the core of this number, counted from 0; empty where there is none.
std::string processor_fact(std::istream& cpuinfo, const std::string& word, int core = 0);
// The same for this machine.
std::string processor_fact(const std::string& word, int core = 0);

// Of `cpu.max` of a control group, "200000 100000": the cores whose time it gives, here 2; nothing where it says "max".
std::optional<double> core_quota(std::istream& cpu_max);
// The numbers of the cores that this process may run on, ascending: all, or what a scheduler or taskset gave it.
std::vector<int> given_cores();
// How many of them it can keep busy, 1 at least: all, or the quota of its container.
int usable_cores();

}  // namespace sextant
