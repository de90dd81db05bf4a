// Plays flows in SimGrid: a program of its own, because SimGrid's engine can live only once in a process, and so that nothing of ours links
// it. Reads from stdin
//
//     links N                 then N times   bandwidth latency
//     flows M                 then M times   start bytes K link...    prints when each ends
// or  ring RANKS ROUNDS BYTES then by rank   K link... to the next rank                 prints when all have done their rounds
//
// Configured as plain max-min sharing, and nothing else: CM02 is SimGrid's flow model without corrections fitted to TCP; both factors 1,
// so that a route's latency and a link's bandwidth are those given; no window that bounds a flow (TCP-gamma 0), no acknowledgements that
// take bandwidth of the way back (crosstraffic 0), and no share lost to long routes (weight-S 0). What stays is that SimGrid shares a
// link in inverse proportion to the flows' latencies: networks given to it must have flows of equal latency wherever they share.
#include <simgrid/s4u.hpp>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace sg = simgrid::s4u;

namespace {

struct Platform {
    sg::NetZone* zone = sg::create_full_zone("all");
    std::vector<sg::Link*> links;
    int hosts = 0;

    void read_links() {
        std::string word;
        int count = 0;
        std::cin >> word >> count;
        for (int l = 0; l < count; ++l) {
            double bandwidth = 0, latency = 0;
            std::cin >> bandwidth >> latency;
            links.push_back(zone->create_link("link" + std::to_string(l), bandwidth)->set_latency(latency)->seal());
        }
    }
    sg::Host* add_host() { return zone->create_host("host" + std::to_string(hosts++), 1e9)->seal(); }
    void read_route(const sg::Host* from, const sg::Host* to) {
        int count = 0;
        std::cin >> count;
        std::vector<sg::LinkInRoute> route;
        for (int i = 0, link = 0; i < count; ++i) {
            std::cin >> link;
            route.emplace_back(links.at(link));
        }
        zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
    }
};

void play_flows(sg::Engine& engine, Platform& platform) {
    struct Flow {
        double start = 0, end = 0;
        std::uint64_t bytes = 0;
        sg::Host *from = nullptr, *to = nullptr;
    };
    int count = 0;
    std::cin >> count;
    std::vector<Flow> flows(count);
    for (Flow& flow : flows) {
        std::cin >> flow.start >> flow.bytes;
        flow.from = platform.add_host();
        flow.to = platform.add_host();
        platform.read_route(flow.from, flow.to);
    }
    platform.zone->seal();
    for (Flow& flow : flows)
        sg::Actor::create("flow", flow.from, [&flow] {
            sg::this_actor::sleep_until(flow.start);
            sg::Comm::sendto(flow.from, flow.to, flow.bytes);
            flow.end = sg::Engine::get_clock();
        });
    engine.run();
    for (const Flow& flow : flows) std::printf("%.17g\n", flow.end);
}

void play_ring(sg::Engine& engine, Platform& platform) {
    int ranks = 0, rounds = 0;
    std::uint64_t bytes = 0;
    std::cin >> ranks >> rounds >> bytes;
    std::vector<sg::Host*> hosts;
    std::vector<sg::Mailbox*> boxes;
    for (int r = 0; r < ranks; ++r) {
        hosts.push_back(platform.add_host());
        boxes.push_back(sg::Mailbox::by_name(std::to_string(r)));
    }
    for (int r = 0; r < ranks; ++r) platform.read_route(hosts[r], hosts[(r + 1) % ranks]);
    platform.zone->seal();
    for (int r = 0; r < ranks; ++r)
        sg::Actor::create("rank", hosts[r], [&, r] {
            boxes[r]->set_receiver(sg::Actor::self());  // what comes need not wait until the rank asks for it
            int token = 0;
            for (int round = 0; round < rounds; ++round) {
                const auto sent = boxes[(r + 1) % ranks]->put_async(&token, bytes);
                boxes[r]->get<int>();
                sent->wait();
            }
        });
    engine.run();
    std::printf("%.17g\n", sg::Engine::get_clock());
}

}  // namespace

int main(int argc, char** argv) {
    sg::Engine engine(&argc, argv);
    for (const char* setting : {"network/model:CM02", "network/latency-factor:1", "network/bandwidth-factor:1", "network/TCP-gamma:0",
                                "network/crosstraffic:0", "network/weight-S:0"})
        sg::Engine::set_config(setting);
    Platform platform;
    platform.read_links();
    std::string what;
    std::cin >> what;
    if (what == "flows")
        play_flows(engine, platform);
    else
        play_ring(engine, platform);
    return 0;
}
