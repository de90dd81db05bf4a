#include "model/simulate/link_map.hpp"

#include "model/hardware/group_traffic.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace sextant {
namespace {

constexpr double rounding = 1e-9;  // relative

std::size_t key(CommunicatorIndex communicator, TrafficPattern pattern) {
    return std::size_t{communicator} * pattern_count + static_cast<std::size_t>(pattern);
}

// The links of a machine, and where ranks are on it.
struct PlacedLinks {
    const Topology& topology;
    GroupTraffic& groups;  // on that topology
    const LoaderLinks& loaders;
    const Placement& placement;
};

// Calls add(first rank, loads) for what each set of a communicator puts on the links for one byte of each of its ranks. `players`: the
// ranks of the graph that play the kernels of the communicator's ranks, each its part of them; one for all where they are folded.
void add_loads(const Communicator& communicator, TrafficPattern pattern, int players, const PlacedLinks& links, const auto& add) {
    const auto& [topology, groups, loaders, placement] = links;
    for (const std::vector<int>& set : communicator.sets) {
        const auto device = [&](std::size_t i) { return links.placement.device_of[static_cast<std::size_t>(set[i])]; };
        const auto server = [&] { return links.placement.node_of_server[static_cast<std::size_t>(set[1])]; };
        const auto node = [&](std::size_t i) { return device(i) / links.topology.devices_per_node(); };
        std::vector<DeviceIndex> members;
        switch (pattern) {
            case TrafficPattern::ring:
            case TrafficPattern::all_to_all:
                for (std::size_t i = 0; i < set.size(); ++i) members.push_back(device(i));
                add(set[0], pattern == TrafficPattern::ring ? groups.ring_loads(members) : groups.all_to_all_loads(members));
                break;
            case TrafficPattern::path: add(set[0], topology.send_loads(device(0), device(1))); break;
            case TrafficPattern::to_server:
            case TrafficPattern::from_server:
                add(set[0], topology.host_copy_loads(device(0), server(), pattern == TrafficPattern::to_server, placement.sent_together));
                break;
            case TrafficPattern::load: add(set[0], loaders.loads_of_samples(node(0))); break;
            case TrafficPattern::kernels:
                for (std::size_t i = 0; i < set.size(); ++i) {
                    std::vector<LinkLoad> loads = loaders.loads_of_kernels(node(i));
                    for (LinkLoad& load : loads) load.weight /= players;
                    add(set[i], loads);
                }
                break;
        }
    }
}

// Equal loads differ in their last bits by the order in which they were summed.
std::vector<std::pair<TrafficIndex, float>> shape_of(const std::vector<LinkClass::Load>& loads, Bandwidth capacity) {
    std::vector<std::pair<TrafficIndex, float>> shape;
    shape.reserve(loads.size());
    for (const LinkClass::Load& l : loads) shape.emplace_back(l.traffic, static_cast<float>(l.weight / capacity.si()));
    return shape;
}

// Whether a limits whatever b limits, no later.
bool dominates(const LinkClass& a, const LinkClass& b) {
    for (std::size_t i = 0; i < a.loads.size(); ++i)
        if (a.loads[i].weight * b.capacity.si() < b.loads[i].weight * a.capacity.si()) return false;
    return true;
}

}  // namespace

TrafficPattern pattern_of(const CollectivePrice& price, const Communicator& communicator, const Work& work) {
    if (communicator.with_server) {
        const auto* transfer = std::get_if<TransferWork>(&work);
        return transfer && transfer->payload == Payload::weights ? TrafficPattern::from_server : TrafficPattern::to_server;
    }
    switch (price.pattern) {
        case Pattern::ring: return TrafficPattern::ring;
        case Pattern::all_to_all: return TrafficPattern::all_to_all;
        case Pattern::path: return TrafficPattern::path;
    }
    return TrafficPattern::ring;
}

LinkMap::LinkMap(const TaskGraph& graph, const CostTable& table, const Topology& topology, const Placement& placement) {
    find_traffic(graph, table);
    const LoaderLinks loaders(table.loaders ? &*table.loaders : nullptr, topology);
    std::vector<std::vector<LinkClass::Load>> loads_of_link(topology.links().size() + loaders.links().size());
    std::vector<Crossing> crossings;
    GroupTraffic groups(topology);
    for (TrafficIndex t = 0; t < traffic_.size(); ++t) {
        const auto players = std::ranges::count(graph.ranks(), std::optional(traffic_[t].communicator), &RankInfo::feed);
        const auto add = [&](int of, const std::vector<LinkLoad>& loads) {
            for (const LinkLoad& load : loads) {
                crossings.push_back({t, of, load.link});
                auto& list = loads_of_link[static_cast<std::size_t>(load.link)];
                if (list.empty() || list.back().traffic != t) list.push_back({t, 0});
                list.back().weight += load.weight;
            }
        };
        add_loads(graph.communicators()[traffic_[t].communicator], traffic_[t].pattern, static_cast<int>(players),
                  {topology, groups, loaders, placement}, add);
    }
    topology_links_ = topology.links().size();
    classify(topology, loaders, std::move(loads_of_link));
    drop_never_full();
    drop_dominated();
    sets_are_alike_ = are_alike(crossings);
    uses_.resize(traffic_.size());
    std::uint32_t link = 0;
    for (const LinkClass& c : classes_) {
        if (!c.limits) continue;
        for (const LinkClass::Load& l : c.loads) uses_[l.traffic].push_back({link, l.weight});
        ++link;
    }
}

// Every communicator and pattern that some segment uses.
void LinkMap::find_traffic(const TaskGraph& graph, const CostTable& table) {
    index_.resize(graph.communicators().size() * pattern_count);
    const auto meet = [&](CommunicatorIndex communicator, const CollectivePrice& price, const Work& work) {
        const TrafficPattern pattern = pattern_of(price, graph.communicators()[communicator], work);
        std::optional<TrafficIndex>& known = index_[key(communicator, pattern)];
        if (known) return;
        known = static_cast<TrafficIndex>(traffic_.size());
        traffic_.push_back({communicator, pattern});
    };
    std::vector<bool> seen(graph.ranks().size() * graph.works().size());
    for (const Segment& s : graph.segments()) {
        const std::size_t place = s.rank * graph.works().size() + s.work;
        const Work& work = graph.works()[s.work];
        const bool own = std::holds_alternative<CollectiveWork>(work) || std::holds_alternative<TransferWork>(work);
        if (seen[place] && !std::holds_alternative<TransferWork>(work)) continue;  // one work goes to several servers
        seen[place] = true;
        for (const Piece& piece : table.works[s.work].pieces) {
            if (!piece.exchange) continue;
            const auto inside = graph.ranks()[s.rank].communicators[piece.exchange->group];
            if (own || inside) meet(own ? s.communicator : *inside, piece.exchange->price, work);
        }
    }
    if (!table.loaders) return;
    for (const RankInfo& rank : graph.ranks()) {
        if (!rank.feed) continue;
        for (const TrafficPattern pattern : {TrafficPattern::load, TrafficPattern::kernels}) {
            std::optional<TrafficIndex>& known = index_[key(*rank.feed, pattern)];
            if (known || (pattern == TrafficPattern::load && rank.stage > 0)) continue;
            known = static_cast<TrafficIndex>(traffic_.size());
            traffic_.push_back({*rank.feed, pattern, pattern == TrafficPattern::load ? table.loaders->pace : LoaderLinks::kernel_pace});
        }
    }
}

void LinkMap::classify(const Topology& topology, const LoaderLinks& loaders, std::vector<std::vector<LinkClass::Load>> loads_of_link) {
    std::map<std::vector<std::pair<TrafficIndex, float>>, std::size_t> known;
    class_of_.resize(loads_of_link.size());
    for (std::size_t l = 0; l < loads_of_link.size(); ++l) {
        if (loads_of_link[l].empty()) continue;
        const bool is_link = l < topology_links_;
        const Bandwidth capacity = is_link ? topology.links()[l].bandwidth : loaders.links()[l - topology_links_].capacity;
        if (!std::isfinite(capacity.si())) continue;  // never limits
        const auto [entry, is_new] = known.try_emplace(shape_of(loads_of_link[l], capacity), classes_.size());
        class_of_[l] = entry->second;
        if (!is_new) {
            classes_[entry->second].links.push_back(static_cast<int>(l));
            continue;
        }
        const auto name = [&](int vertex) { return topology.vertices()[static_cast<std::size_t>(vertex)].name; };
        classes_.push_back(
            {is_link ? name(topology.links()[l].from) + " -> " + name(topology.links()[l].to) : loaders.links()[l - topology_links_].name,
             {static_cast<int>(l)},
             capacity,
             std::move(loads_of_link[l]),
             true});
    }
}

// Links that have room for all that cross them, each as fast as it ever can be.
void LinkMap::drop_never_full() {
    std::vector<double> fastest;
    for (const Traffic& t : traffic_) fastest.push_back(t.limit.si());
    for (const LinkClass& c : classes_)
        for (const LinkClass::Load& l : c.loads) fastest[l.traffic] = std::min(fastest[l.traffic], c.capacity.si() / l.weight);
    for (LinkClass& c : classes_) {
        double most = 0;
        for (const LinkClass::Load& l : c.loads) most += l.weight * fastest[l.traffic];
        c.limits = most > (1 - rounding) * c.capacity.si();
    }
}

void LinkMap::drop_dominated() {
    std::map<std::vector<TrafficIndex>, std::vector<std::size_t>> kept;  // by what crosses the links
    for (std::size_t c = 0; c < classes_.size(); ++c) {
        if (!classes_[c].limits) continue;
        std::vector<TrafficIndex> crossing;
        for (const LinkClass::Load& l : classes_[c].loads) crossing.push_back(l.traffic);
        std::vector<std::size_t>& rivals = kept[crossing];
        const auto is_dominated = [&](std::size_t r) { return dominates(classes_[r], classes_[c]); };
        if (std::any_of(rivals.begin(), rivals.end(), is_dominated)) {
            classes_[c].limits = false;
            continue;
        }
        std::erase_if(rivals, [&](std::size_t r) {
            if (dominates(classes_[c], classes_[r])) classes_[r].limits = false;
            return !classes_[r].limits;
        });
        rivals.push_back(c);
    }
}

bool LinkMap::are_alike(const std::vector<Crossing>& crossings) const {
    std::vector<std::size_t> before, here;
    std::optional<TrafficIndex> traffic;
    for (auto at = crossings.begin(); at != crossings.end();) {
        const Crossing first = *at;
        here.clear();
        for (; at != crossings.end() && at->traffic == first.traffic && at->of == first.of; ++at)
            if (const auto c = class_of_[static_cast<std::size_t>(at->link)]; c && classes_[*c].limits) here.push_back(*c);
        std::ranges::sort(here);
        here.erase(std::unique(here.begin(), here.end()), here.end());
        if (traffic == first.traffic && here != before) return false;
        traffic = first.traffic;
        before.swap(here);
    }
    return true;
}

TrafficIndex LinkMap::traffic(CommunicatorIndex communicator, TrafficPattern pattern) const { return *index_[key(communicator, pattern)]; }

std::vector<Bandwidth> LinkMap::capacities() const {
    std::vector<Bandwidth> list;
    for (const LinkClass& c : classes_)
        if (c.limits) list.push_back(c.capacity);
    return list;
}

}  // namespace sextant
