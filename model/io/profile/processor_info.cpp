#include "model/io/profile/processor_info.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>
#include <thread>

#include <sched.h>

namespace sextant {
namespace {

std::string siblings_of(int processor) {
    std::string list;
    std::getline(std::ifstream("/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/topology/thread_siblings_list"), list);
    return list;
}

}  // namespace

std::string processor_fact(std::istream& cpuinfo, const std::string& word, int processor) {
    for (std::string line; std::getline(cpuinfo, line);) {
        if (!line.starts_with(word) || processor-- > 0) continue;
        const std::size_t colon = line.find(':');
        return colon == std::string::npos ? std::string{} : line.substr(std::min(line.size(), colon + 2));
    }
    return {};
}

std::string processor_fact(const std::string& word, int processor) {
    std::ifstream cpuinfo("/proc/cpuinfo");
    return processor_fact(cpuinfo, word, processor);
}

std::optional<double> core_quota(std::istream& cpu_max) {
    double quota = 0, period = 0;
    if (!(cpu_max >> quota >> period) || !(quota > 0) || !(period > 0)) return std::nullopt;
    return quota / period;
}

std::vector<int> given_processors() {
    std::vector<int> list;
    if (cpu_set_t given; ::sched_getaffinity(0, sizeof given, &given) == 0)
        for (int processor = 0; processor < CPU_SETSIZE; ++processor)
            if (CPU_ISSET(processor, &given)) list.push_back(processor);
    if (list.empty()) {  // a machine of more than the set has room for
        list.resize(std::max(1U, std::thread::hardware_concurrency()));
        std::iota(list.begin(), list.end(), 0);
    }
    return list;
}

int cores_among(const std::vector<int>& processors, const std::function<std::string(int)>& siblings) {
    std::set<std::string> cores;
    for (const int processor : processors) {
        const std::string of_core = siblings(processor);
        cores.insert(of_core.empty() ? std::to_string(processor) : of_core);
    }
    return static_cast<int>(cores.size());
}

double processors_of_core() {
    const std::vector<int> given = given_processors();
    return static_cast<double>(given.size()) / cores_among(given, siblings_of);
}

int usable_cores() {
    const int given = cores_among(given_processors(), siblings_of);
    std::ifstream cpu_max("/sys/fs/cgroup/cpu.max");
    const std::optional<double> quota = core_quota(cpu_max);
    return quota ? std::clamp(static_cast<int>(*quota), 1, given) : given;
}

}  // namespace sextant
