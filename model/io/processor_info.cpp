#include "model/io/processor_info.hpp"

#include <algorithm>

namespace sextant {

std::string processor_fact(std::istream& cpuinfo, const std::string& word, int core) {
    for (std::string line; std::getline(cpuinfo, line);)
        if (line.starts_with(word) && core-- <= 0) return line.substr(std::min(line.size(), line.find(':') + 2));
    return {};
}

}  // namespace sextant
