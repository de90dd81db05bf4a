// What Linux tells of the processor: of its cores, and of what Linux calls processors, of which a core may have two (hardware threads).
// /proc/cpuinfo has a paragraph for each of these, a line for each fact.
#pragma once

#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

// The value that stands behind a word for the processor of this number, counted from 0; empty where there is none.
std::string processor_fact(std::istream& cpuinfo, const std::string& word, int processor = 0);
// The same for this machine.
std::string processor_fact(const std::string& word, int processor = 0);

// Of `cpu.max` of a control group, "200000 100000": the cores whose time it gives, here 2; nothing where it says "max".
std::optional<double> core_quota(std::istream& cpu_max);
// The numbers of those that this process may run on, ascending: all, or what a scheduler or taskset gave it.
std::vector<int> given_processors();
// How many cores such processors are. `siblings`: the list of all processors of a processor's core; empty where nobody says.
int cores_among(const std::vector<int>& processors, const std::function<std::string(int processor)>& siblings);
// The processors of each core, of those that this process was given.
double processors_of_core();
// How many cores this process can keep busy with arithmetic, which the processors of a core share; 1 at least: those that it was given, or
// the quota of its container.
int usable_cores();

}  // namespace sextant
