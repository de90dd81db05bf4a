#include "cli/machine.hpp"

#include "model/io/processor_info.hpp"

#include <chrono>
#include <fstream>
#include <thread>

#include <unistd.h>

namespace sextant {
MachineFacts facts_of_this_machine() {
    MachineFacts m;
    char host[256] = {};
    if (::gethostname(host, sizeof host - 1) == 0) m.host = host;
    std::ifstream cpuinfo("/proc/cpuinfo");
    m.processor = processor_fact(cpuinfo, "model name");
    if (m.processor.empty()) m.processor = "unknown processor";
    m.cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    m.memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE)) * units::B;
    if (const long l2 = ::sysconf(_SC_LEVEL2_CACHE_SIZE); l2 > 0) m.cache = static_cast<double>(l2) * units::B;
    return m;
}

std::string today() {
    const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
    char text[16];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                  static_cast<unsigned>(day.day()));
    return text;
}

}  // namespace sextant
