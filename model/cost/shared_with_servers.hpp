// Workers and parameter servers that are processes on the cores of one host. More than there are cores have equal parts of them while all
// work. Neglected: that the system moves processes between cores milliseconds too late, and what they evict from each other's caches.
#pragma once

#include <algorithm>

namespace sextant {

struct SharedWithServers {
    double workers = 1, servers = 0, cores = 1;  // of a host

    // How many times as long as without the others the work of a server takes, and that of a worker, while so many workers compute.
    [[nodiscard]] double server_slowdown(double computing) const { return slowdown(computing, servers); }
    [[nodiscard]] double worker_slowdown(double computing) const { return slowdown(computing, workers); }

private:
    [[nodiscard]] double slowdown(double computing, double alike) const {
        return std::max(1.0, (computing + servers) / std::max(alike, cores));
    }
};

}  // namespace sextant
