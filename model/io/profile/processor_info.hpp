// What Linux tells of the processor, as /proc/cpuinfo has it: a paragraph for each core, a line for each fact.
#pragma once

#include <istream>
#include <string>

namespace sextant {

// What stands behind such a word, of the core that is this many behind the first; empty where it does not.
std::string processor_fact(std::istream& cpuinfo, const std::string& word, int core = 0);
// The same of this machine.
std::string processor_fact(const std::string& word, int core = 0);

}  // namespace sextant
