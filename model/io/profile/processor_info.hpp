// What Linux tells of the processor, as /proc/cpuinfo has it: a paragraph for each core, a line for each fact.
#pragma once

#include <istream>
#include <string>

namespace sextant {

// The value that stands behind a word for the core of this number, counted from 0; empty where there is none.
std::string processor_fact(std::istream& cpuinfo, const std::string& word, int core = 0);
// The same for this machine.
std::string processor_fact(const std::string& word, int core = 0);

}  // namespace sextant
