#include "gui/models/topology/cluster_map.hpp"

#include "gui/models/text.hpp"
#include "gui/models/timeline/rows.hpp"
#include "gui/models/timeline/segments.hpp"

#include <algorithm>
#include <map>

namespace sextant::gui {
namespace {

constexpr double full = 0.9;  // of its bandwidth: from there on a link is what everything waits for

void divide_links(ClusterMap& map) {
    const Topology& topology = *map.machine.topology;
    map.links_of_node.resize(static_cast<std::size_t>(topology.nodes()));
    const auto links = topology.links();
    for (std::size_t l = 0; l < links.size(); l += 2) {
        const auto node = [&](int vertex) { return topology.vertices()[static_cast<std::size_t>(vertex)].node; };
        const std::optional<int> of = node(links[l].from) ? node(links[l].from) : node(links[l].to);
        (of ? map.links_of_node[static_cast<std::size_t>(*of)] : map.fabric_links).push_back(static_cast<int>(l));
    }
}

void find_alike(ClusterMap& map) {
    std::map<std::vector<std::optional<std::uint32_t>>, std::size_t> known;
    for (std::size_t n = 0; n < map.links_of_node.size(); ++n) {
        std::vector<std::optional<std::uint32_t>> shape;
        for (const int l : map.links_of_node[n])
            for (const int direction : {l, l ^ 1}) shape.push_back(map.series_of_link[static_cast<std::size_t>(direction)]);
        const auto [entry, is_new] = known.try_emplace(std::move(shape), map.alike.size());
        if (is_new) map.alike.emplace_back();
        map.alike[entry->second].push_back(static_cast<int>(n));
    }
}

// How busy the links are by which a node reaches the others.
double network_use(const ClusterMap& map, int node) {
    double most = 0;
    for (const int l : map.links_of_node[static_cast<std::size_t>(node)]) {
        const TopologyLink& link = map.machine.topology->links()[static_cast<std::size_t>(l)];
        if (link.category != LinkCategory::infiniband && link.category != LinkCategory::ethernet) continue;
        for (const int direction : {l, l ^ 1})
            if (const UtilizationSeries* s = map.series(direction)) most = std::max(most, mean_of(*s));
    }
    return most;
}

double part_full(const UtilizationSeries& s) {
    const auto count = std::ranges::count_if(s.busy, [](double b) { return b >= full; });
    return s.busy.empty() ? 0 : static_cast<double>(count) / static_cast<double>(s.busy.size());
}

// None of what loaders share: cores of the host, operations of the storage.
const TopologyLink* first_link(const ClusterMap& map, const UtilizationSeries& s) {
    return s.links.empty() ? nullptr : &map.machine.topology->links()[static_cast<std::size_t>(s.links.front())];
}

double mean_use(const ClusterMap& map, const UtilizationSeries& s, const std::optional<TimeRange>& range) {
    return range ? mean_within(s, map.report().trace.end, range->from, range->to) : mean_of(s);
}

QString link_finding(const ClusterMap& map, const std::optional<TimeRange>& range) {
    const SimulationReport& r = map.report();
    const UtilizationSeries* busiest = nullptr;
    const auto full_for = [&](const UtilizationSeries& s) { return range ? 0 : part_full(s); };
    const auto use = [&](const UtilizationSeries* s) { return use_of(map, *s, range); };
    for (const UtilizationSeries& s : r.links)
        if (!busiest || std::pair(full_for(s), use(&s)) > std::pair(full_for(*busiest), use(busiest))) busiest = &s;
    if (!busiest || use(busiest) <= 0) return QStringLiteral("No link carries anything.");
    const QString alike = busiest->count == 1   ? QString()
                          : busiest->count == 2 ? QStringLiteral(", like one other,")
                                                : QStringLiteral(", like %1 others,").arg(grouped(busiest->count - 1));
    const TopologyLink* link = first_link(map, *busiest);
    const QString of = link ? QStringLiteral("of its %1").arg(quantity(link->bandwidth)) : QStringLiteral("of it");
    const QString name = with_signs(busiest->name);
    if (range) return QStringLiteral("The busiest link is <b>%1</b>%2 with %3 %4 in use.").arg(name, alike, percent(use(busiest)), of);
    if (const double part = part_full(*busiest); part > 0)
        return QStringLiteral("<b>%1</b>%2 is full for %3 of the step: all %4 is in use.").arg(name, alike, percent(part), of);
    return QStringLiteral("No link is full for %5. The busiest is <b>%1</b>%2 with at most %3 %4 in use, on average over so long.")
        .arg(name, alike, percent(use(busiest)), of, name_of_interval(map));
}

// Kernels of one rank take longer than those of the others of its stage.
QString rank_finding(const ClusterMap& map, const std::optional<TimeRange>& range) {
    const SimulationReport& r = map.report();
    std::map<int, std::vector<std::pair<double, int>>> by_stage;  // use and rank
    for (std::size_t i = 0; i < r.trace.ranks.size() && i < r.devices.size(); ++i)
        if (const TraceRank& rank = r.trace.ranks[i]; !rank.server)
            by_stage[rank.stage].emplace_back(mean_use(map, r.devices[i], range), rank.rank);
    double slowest = 1.01;  // what is less nobody would notice
    QString finding;
    for (auto& [stage, ranks] : by_stage) {
        std::ranges::sort(ranks);
        const double usual = ranks[ranks.size() / 2].first, longer = usual > 0 ? ranks.back().first / usual : 1;
        if (ranks.size() < 2 || longer <= slowest) continue;
        slowest = longer;
        finding = QStringLiteral("<b>Rank %1</b> is the slow one: its kernels take %2 longer than is usual in its stage.")
                      .arg(ranks.back().second)
                      .arg(percent(longer - 1));
    }
    return finding;
}

ParallelGroup parallel_group(PlanDimension d) {
    switch (d) {
        case PlanDimension::tensor: return ParallelGroup::tensor;
        case PlanDimension::context: return ParallelGroup::context;
        case PlanDimension::expert: return ParallelGroup::expert;
        case PlanDimension::data: return ParallelGroup::data;
        case PlanDimension::pipeline: return ParallelGroup::pipeline;
    }
    return ParallelGroup::data;
}

}  // namespace

const UtilizationSeries* ClusterMap::series(int link) const {
    const auto index = series_of_link[static_cast<std::size_t>(link)];
    return index ? &report().links[*index] : nullptr;
}

std::shared_ptr<const ClusterMap> map_of(const Scenario& scenario, std::shared_ptr<const SimulationReport> played) {
    auto map = std::make_shared<ClusterMap>(ClusterMap{scenario, std::move(played), used_machine(prepare(scenario)), layout_of(scenario)});
    map->series_of_link.resize(map->machine.topology->links().size());
    for (std::uint32_t s = 0; s < map->report().links.size(); ++s)
        for (const int link : map->report().links[s].links) map->series_of_link[static_cast<std::size_t>(link)] = s;
    const Topology& topology = *map->machine.topology;
    map->rank_of_device.resize(static_cast<std::size_t>(topology.nodes() * topology.devices_per_node()));
    const std::vector<DeviceIndex>& devices = map->machine.placement.device_of;
    for (std::size_t r = 0; r < devices.size(); ++r) map->rank_of_device[static_cast<std::size_t>(devices[r])] = static_cast<int>(r);
    divide_links(*map);
    find_alike(*map);
    for (const std::vector<int>& nodes : map->alike) map->network_use.push_back(network_use(*map, nodes.front()));
    return map;
}

ShownNodes nodes_to_show(const ClusterMap& map, std::size_t most, std::optional<int> rank) {
    ShownNodes shown;
    const auto nodes = static_cast<std::size_t>(map.machine.topology->nodes());
    if (nodes <= most) {
        for (std::size_t n = 0; n < nodes; ++n) shown.nodes.push_back({static_cast<int>(n), 1});
        return shown;
    }
    std::vector<std::size_t> kinds(map.alike.size());
    for (std::size_t k = 0; k < kinds.size(); ++k) kinds[k] = k;
    const auto stands_apart = [&](std::size_t k) {
        const bool has_rank = rank && std::ranges::binary_search(map.alike[k], map.layout.node_of(*rank));
        const bool at_an_end = k == 0 || k + 1 == map.alike.size();
        return std::pair(has_rank ? 2 : at_an_end ? 1 : 0, map.network_use[k]);
    };
    std::ranges::stable_sort(kinds, std::ranges::greater(), stands_apart);
    for (std::size_t i = std::min(most, kinds.size()); i < kinds.size(); ++i)
        shown.left_out += static_cast<int>(map.alike[kinds[i]].size());
    kinds.resize(std::min(most, kinds.size()));
    std::ranges::sort(kinds);
    for (const std::size_t k : kinds) {
        const bool has_rank = rank && std::ranges::binary_search(map.alike[k], map.layout.node_of(*rank));
        shown.nodes.push_back({has_rank ? map.layout.node_of(*rank) : map.alike[k].front(), static_cast<int>(map.alike[k].size())});
    }
    return shown;
}

QString name_of_interval(const ClusterMap& map) {
    const SimulationReport& r = map.report();
    const std::size_t intervals = r.links.empty() ? 1 : r.links.front().busy.size();
    return QStringLiteral("1/%1 of %2").arg(intervals).arg(r.steps == 1 ? QStringLiteral("the step") : QStringLiteral("what was played"));
}

double use_of(const ClusterMap& map, const UtilizationSeries& s, const std::optional<TimeRange>& range) {
    return range ? mean_within(s, map.report().trace.end, range->from, range->to) : highest_of(s);
}

double use_of(const ClusterMap& map, int link, const std::optional<TimeRange>& range) {
    double most = 0;
    for (const int direction : {link, link ^ 1})
        if (const UtilizationSeries* s = map.series(direction)) most = std::max(most, use_of(map, *s, range));
    return most;
}

double use_of_rank(const ClusterMap& map, int rank, const std::optional<TimeRange>& range) {
    const SimulationReport& r = map.report();
    for (std::size_t i = 0; i < r.trace.ranks.size() && i < r.devices.size(); ++i) {
        const TraceRank& known = r.trace.ranks[i];
        const bool is_it = known.multiplicity > 1 ? known.stage == map.layout.place_of(rank).pipeline : known.rank == rank;
        if (!known.server && is_it) return mean_use(map, r.devices[i], range);
    }
    return 0;
}

std::vector<int> group_of(const ClusterMap& map, int rank, PlanDimension d) { return map.layout.group_of(rank, parallel_group(d)); }

QString name_of(LinkCategory c) {
    switch (c) {
        case LinkCategory::pcie: return QStringLiteral("PCIe");
        case LinkCategory::socket: return QStringLiteral("between sockets");
        case LinkCategory::nvlink: return QStringLiteral("NVLink");
        case LinkCategory::infiniband: return QStringLiteral("InfiniBand");
        case LinkCategory::ethernet: return QStringLiteral("Ethernet");
        case LinkCategory::memory: return QStringLiteral("memory");
    }
    return {};
}

QString place_in_words(const ClusterMap& map, int rank) {
    const Plan& plan = map.scenario.plan;
    const RankPlace place = map.layout.place_of(rank);
    QStringList parts;
    const auto add = [&](int size, const char* name, int at) {
        if (size > 1) parts += QStringLiteral("%1 %2 of %3").arg(QLatin1String(name)).arg(at).arg(size);
    };
    add(plan.pp, "pipeline stage", place.pipeline);
    add(plan.dp, "data", place.data);
    add(plan.tp, "tensor", place.tensor);
    add(plan.cp, "context", place.context);
    return parts.join(QStringLiteral(", "));
}

QStringList findings(const ClusterMap& map, const std::optional<TimeRange>& range) {
    QStringList list{link_finding(map, range)};
    if (const QString slow = rank_finding(map, range); !slow.isEmpty()) list += slow;
    return list;
}

Table cluster_links_table(const ClusterMap& map, const std::optional<TimeRange>& range) {
    Table table{
        {QStringLiteral("link"), QStringLiteral("links alike"), QStringLiteral("kind"), QStringLiteral("bandwidth (B/s)"),
         QStringLiteral("latency (s)"), QStringLiteral("utilization"), QStringLiteral("highest"), QStringLiteral("part of the step full")},
        {}};
    const SimulationReport& r = map.report();
    for (const UtilizationSeries* s : busiest_links(r, r.links.size())) {
        const TopologyLink* link = first_link(map, *s);
        table.rows.push_back({q(s->name), s->count, link ? name_of(link->category) : QStringLiteral("what loaders share"),
                              link ? QVariant(link->bandwidth.si()) : QVariant(), link ? QVariant(link->latency.si()) : QVariant(),
                              mean_use(map, *s, range), highest_of(*s), part_full(*s)});
    }
    return table;
}

}  // namespace sextant::gui
