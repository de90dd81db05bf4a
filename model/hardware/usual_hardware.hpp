// What a machine usually has where a source names only its device: the links, networks and hosts that were sold with it.
#pragma once

#include "model/base/provenance.hpp"
#include "model/base/quantity.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sextant {

struct UsualHardware {
    // How a device reaches its peers over NVLink.
    struct Nvlinks {
        std::string device, architecture;         // words of names; empty: any
        std::string link;                         // the type of one link
        std::string port;                         // the type of all links of a device together, as the catalogue has it
        int links = 1, enabled = 1;               // of a device
        bool torus = false;                       // of all devices of a job, over nodes; `link` is all links of a device
        std::vector<std::vector<int>> mesh_of_8;  // links between every two of eight on a board; empty: they have none of their own
    };
    struct Network {
        std::string fabric;  // "infiniband", "ethernet" ...
        Bandwidth port;
        std::string link;
    };
    struct Host {
        std::string architecture;  // of its devices; empty: any
        std::string cpu, socket_link;
        int cores = 1;                        // of two sockets
        Sourced<double> thread_speed;         // against a 3.0 GHz server core of 2020
        Sourced<Bytes> memory;                // of two sockets, as NVIDIA's machines of that time have, 480 GB of each Grace
        Sourced<Bandwidth> memory_bandwidth;  // of two sockets
        Bandwidth nic;                        // of an InfiniBand port, where nobody names the network
    };
    std::vector<Nvlinks> nvlinks;
    std::vector<Network> networks;
    std::vector<Host> hosts;

    // The first entry that fits; null where none does.
    [[nodiscard]] const Nvlinks* nvlinks_of(std::string_view device, std::string_view architecture) const;
    [[nodiscard]] const Host* host_of(std::string_view architecture) const;
    // The port of a fabric among these words that is nearest to a speed, as a factor.
    [[nodiscard]] const Network* network_of(std::string_view fabrics, Bandwidth port) const;
};

}  // namespace sextant
