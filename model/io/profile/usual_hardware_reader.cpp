#include "model/io/profile/profile_fields.hpp"
#include "model/io/profile/profile_reader.hpp"

namespace sextant {
namespace {

UsualHardware::Nvlinks read_nvlinks(const JsonNode& n) {
    UsualHardware::Nvlinks links;
    ObjectReader r(n);
    r.optional("device", links.device);
    r.optional("architecture", links.architecture);
    r.required("link", links.link);
    links.port = links.link;
    r.optional("port", links.port);
    r.required("links", links.links, Bounds{1, 64});
    links.enabled = links.links;
    r.optional("enabled", links.enabled, Bounds{1, static_cast<double>(links.links)});
    r.optional("torus", links.torus);
    r.each("mesh_of_8", [&](const JsonNode& row) {
        std::vector<int>& counts = links.mesh_of_8.emplace_back();
        for (const JsonNode& count : row.elements()) read_value(count, counts.emplace_back(), Bounds{0, 64});
        if (counts.size() != 8) row.complain("eight numbers stand in a row of a mesh of eight");
    });
    if (!links.mesh_of_8.empty() && links.mesh_of_8.size() != 8) r.get("mesh_of_8").complain("a mesh of eight has eight rows");
    return links;
}

UsualHardware::Network read_network(const JsonNode& n) {
    UsualHardware::Network network;
    ObjectReader r(n);
    r.required("fabric", network.fabric);
    r.required("port", network.port, plausible::bandwidth);
    r.required("link", network.link);
    return network;
}

UsualHardware::Host read_host(const JsonNode& n, const Provenance& outer) {
    UsualHardware::Host host;
    ObjectReader r(n);
    read_default_source(r, outer);
    r.optional("architecture", host.architecture);
    r.required("cpu", host.cpu);
    r.required("socket_link", host.socket_link);
    r.required("cores", host.cores, Bounds{1, 10000});
    r.required("thread_speed", host.thread_speed, Bounds{0.01, 100});
    r.required("memory", host.memory, plausible::memory);
    r.required("memory_bandwidth", host.memory_bandwidth, plausible::bandwidth);
    r.required("nic", host.nic, plausible::bandwidth);
    return host;
}

}  // namespace

void read_usual_hardware(const JsonNode& n, UsualHardware& out) {
    if (!n.value) return;
    ObjectReader r(n);
    r.schema("usual-hardware/1");
    read_default_source(r);
    std::string text;  // for people
    for (const char* key : {"title", "notes"}) r.optional(key, text);
    r.each("nvlinks", [&](const JsonNode& links) { out.nvlinks.push_back(read_nvlinks(links)); });
    r.each("networks", [&](const JsonNode& network) { out.networks.push_back(read_network(network)); });
    r.each("hosts", [&](const JsonNode& host) { out.hosts.push_back(read_host(host, r.default_source())); });
}

}  // namespace sextant
