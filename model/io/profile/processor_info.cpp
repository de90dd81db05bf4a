#include "model/io/profile/processor_info.hpp"

#include <algorithm>
#include <fstream>

namespace sextant {

std::string processor_fact(std::istream& cpuinfo, const std::string& word, int core) {
    for (std::string line; std::getline(cpuinfo, line);) {
        if (!line.starts_with(word) || core-- > 0) continue;
        const std::size_t colon = line.find(':');
        return colon == std::string::npos ? std::string{} : line.substr(std::min(line.size(), colon + 2));
    }
    return {};
}

std::string processor_fact(const std::string& word, int core) {
    std::ifstream cpuinfo("/proc/cpuinfo");
    return processor_fact(cpuinfo, word, core);
}

}  // namespace sextant
