#include "model/io/profile/processor_info.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <thread>

#include <sched.h>

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

std::optional<double> core_quota(std::istream& cpu_max) {
    double quota = 0, period = 0;
    if (!(cpu_max >> quota >> period) || !(quota > 0) || !(period > 0)) return std::nullopt;
    return quota / period;
}

std::vector<int> given_cores() {
    std::vector<int> cores;
    if (cpu_set_t given; ::sched_getaffinity(0, sizeof given, &given) == 0)
        for (int core = 0; core < CPU_SETSIZE; ++core)
            if (CPU_ISSET(core, &given)) cores.push_back(core);
    if (cores.empty()) {  // a machine of more cores than the set has room for
        cores.resize(std::max(1U, std::thread::hardware_concurrency()));
        std::iota(cores.begin(), cores.end(), 0);
    }
    return cores;
}

int usable_cores() {
    const int given = static_cast<int>(given_cores().size());
    std::ifstream cpu_max("/sys/fs/cgroup/cpu.max");
    const std::optional<double> quota = core_quota(cpu_max);
    return quota ? std::clamp(static_cast<int>(*quota), 1, given) : given;
}

}  // namespace sextant
