// What each communication of a task graph puts on the links of the topology, and which links have to be told apart.
//
// Most links of a large machine carry the same as some other link: every NVLink port of a stage, every NIC of its nodes. Links that all
// traffic loads equally, in proportion to their capacity, form one class. A class that is never full, or that another class always limits
// first, does not take part in the sharing. All of this is exact, and it reduces a hundred thousand links to a few constraints.
#pragma once

#include "model/cost/cost_table.hpp"
#include "model/graph/task_graph.hpp"
#include "model/hardware/topology.hpp"
#include "model/simulate/fluid_network.hpp"
#include "model/simulate/loader_links.hpp"
#include "model/simulate/simulate.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

// `load` and `kernels` belong to the ranks that see the same samples: what their workers read and decode,
// and the cores that their kernels take.
enum class TrafficPattern : std::uint8_t { ring, all_to_all, path, to_server, from_server, load, kernels };
inline constexpr int pattern_count = 7;

// The bytes of a communicator in one pattern, all its sets together.
using TrafficIndex = std::uint32_t;

// Links that all traffic loads equally.
struct LinkClass {
    std::string name;        // of the first link
    std::vector<int> links;  // ascending; those of the topology, then what loaders share
    Bandwidth capacity;
    struct Load {
        TrafficIndex traffic = 0;
        double weight = 1;  // bytes on the link for each byte of the traffic
    };
    std::vector<Load> loads;
    bool limits = true;  // takes part in the sharing
};

class LinkMap {
public:
    LinkMap(const TaskGraph&, const CostTable&, const Topology&, const Placement&);

    [[nodiscard]] TrafficIndex traffic(CommunicatorIndex, TrafficPattern) const;  // one that the graph has
    [[nodiscard]] std::span<const LinkUse> uses(TrafficIndex t) const { return uses_[t]; }
    [[nodiscard]] std::vector<Bandwidth> capacities() const;  // of the links that uses() name
    [[nodiscard]] std::span<const LinkClass> classes() const { return classes_; }
    [[nodiscard]] std::size_t topology_links() const { return topology_links_; }  // numbers from here on are what loaders share
    [[nodiscard]] std::size_t traffic_count() const { return traffic_.size(); }
    // Whether folding changes no rate: all ranks that a rank of the graph stands for cross links of the same classes. Then rates that are
    // fair to the bundle are fair to each of them, since each has the bundle's bottleneck on its own path.
    [[nodiscard]] bool sets_are_alike() const { return sets_are_alike_; }

private:
    // What one of several folded ranks puts on one link.
    struct Crossing {
        TrafficIndex traffic = 0;
        int of = 0;  // its first rank
        int link = 0;
    };
    void find_traffic(const TaskGraph&, const CostTable&);
    void classify(const Topology&, const LoaderLinks&, std::vector<std::vector<LinkClass::Load>> loads_of_link);
    void drop_never_full();
    void drop_dominated();
    [[nodiscard]] bool are_alike(const std::vector<Crossing>&) const;

    struct Traffic {
        CommunicatorIndex communicator = 0;
        TrafficPattern pattern = TrafficPattern::ring;
        Bandwidth limit = Bandwidth::from_si(std::numeric_limits<double>::infinity());  // that it never exceeds
    };
    std::vector<Traffic> traffic_;
    std::vector<std::optional<TrafficIndex>> index_;  // by communicator and pattern
    std::vector<LinkClass> classes_;
    std::vector<std::optional<std::size_t>> class_of_;  // by link; none where nothing limits or crosses it
    std::size_t topology_links_ = 0;
    bool sets_are_alike_ = true;
    std::vector<std::vector<LinkUse>> uses_;  // by traffic; a link here is a class that limits
};

// How the bytes of an exchange of this price travel over this communicator.
TrafficPattern pattern_of(const CollectivePrice&, const Communicator&, const Work&);

}  // namespace sextant
