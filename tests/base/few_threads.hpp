// A process that the system lets have few threads, as where memory or processes run out. For death tests: it stays so.
#pragma once

#include <cstddef>
#include <fstream>

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sextant {

// Each takes its stack of the address space, where there is room for no more.
inline void allow_threads(std::size_t threads) {
    constexpr std::size_t stack = std::size_t{4} << 30U;
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, stack);
    ::pthread_setattr_default_np(&attributes);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + threads * stack + stack / 2;
    const rlimit limit{most, most};
    ::setrlimit(RLIMIT_AS, &limit);
}

}  // namespace sextant
