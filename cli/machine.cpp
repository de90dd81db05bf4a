#include "cli/machine.hpp"

#include "model/io/profile/processor_info.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace sextant {
namespace {

Seconds seconds_of(const timeval& t) { return static_cast<double>(t.tv_sec) * units::s + static_cast<double>(t.tv_usec) * units::us; }

// All those of so many processors, of which each has one or shares it with some. The kernel says so: the C library multiplies the size of
// an AMD's by cores that a virtual machine does not have (glibc 2.36: 320 MiB where there are 32).
Bytes last_caches(double processors) {
    const std::string of_first = "/sys/devices/system/cpu/cpu0/cache/index3/";
    double kibibytes = 0;
    std::string map;  // a bit for each processor that shares it, in hexadecimal digits and commas
    if (std::ifstream(of_first + "size") >> kibibytes && std::ifstream(of_first + "shared_cpu_map") >> map) {
        int sharing = 0;
        for (const char& digit : map) {
            unsigned bits = 0;
            std::from_chars(&digit, &digit + 1, bits, 16);
            sharing += std::popcount(bits);
        }
        return kibibytes * units::KiB * processors / std::max(1, sharing);
    }
    const long size = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
    return size > 0 ? static_cast<double>(size) * units::B : Bytes{};
}

}  // namespace

MachineFacts facts_of_this_machine() {
    MachineFacts m;
    char host[256] = {};
    if (::gethostname(host, sizeof host - 1) == 0) m.host = host;
    m.processor = processor_fact("model name");
    if (m.processor.empty()) m.processor = "unknown processor";
    m.cores = usable_cores();
    m.memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE)) * units::B;
    m.bf16 = (" " + processor_fact("flags") + " ").find(" amx_bf16 ") != std::string::npos;
    if (const long l2 = ::sysconf(_SC_LEVEL2_CACHE_SIZE); l2 > 0) m.cache = static_cast<double>(l2) * units::B;
    m.shared_cache = last_caches(m.cores * processors_of_core());
    return m;
}

std::string today() {
    const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
    char text[16];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                  static_cast<unsigned>(day.day()));
    return text;
}

// Of the processors that were given to this process their lines of /proc/stat, "cpu0 ...", in ticks: user, nice, system, idle, iowait, irq,
// softirq, steal (proc(5)).
CoreTime core_time() {
    std::set<std::string> ours;
    for (const int processor : given_processors()) ours.insert("cpu" + std::to_string(processor));
    std::ifstream stat("/proc/stat");
    double ticks = 0;
    for (std::string line, word; std::getline(stat, line);) {
        std::istringstream fields(line);
        fields >> word;
        if (!ours.contains(word)) continue;
        double n = 0;
        for (int field = 0; field < 8 && fields >> n; ++field)
            if (field != 3 && field != 4) ticks += n;
    }
    rusage children{};
    ::getrusage(RUSAGE_CHILDREN, &children);
    return {ticks / static_cast<double>(::sysconf(_SC_CLK_TCK)) * units::s, seconds_of(children.ru_utime) + seconds_of(children.ru_stime)};
}

}  // namespace sextant
