#include "gui/views/topology/cluster_layout.hpp"

#include "gui/views/paint/axis.hpp"

#include <algorithm>
#include <map>

namespace sextant::gui {
namespace {

constexpr double least_cell = 21, largest_cell = 40, part_height = 24, between_levels = 30, box_padding = 10, title_height = 24,
                 arcs_height = 28, memory_level = 32;
constexpr double fabric_level = 66, switch_width = 84, legend_line = 18, legend_width = 690, most_boxes = 6;

// From top to bottom in a node.
constexpr VertexKind levels_of_node[] = {VertexKind::nic, VertexKind::socket, VertexKind::pcie_switch, VertexKind::device,
                                         VertexKind::peer_switch};

class Layout {
public:
    Layout(const ClusterMap& map, double width, std::optional<int> rank)
        : map_(map), vertices_(map.machine.topology->vertices()), width_(width) {
        find_fabric();
        cells_ = std::max(map.machine.topology->devices_per_node(), count_in_node(VertexKind::nic));
        const double least = std::max(130.0, cells_ * least_cell + 2 * box_padding);
        const auto room = static_cast<std::size_t>(std::clamp(std::floor((width + gap) / (least + gap)), 1.0, most_boxes));
        out_.shown = nodes_to_show(map, room, rank);
    }

    ClusterLayout place() {
        double y = gap / 2.0;
        if (spine_ || (has_storage() && !has_leaves_)) y += fabric_level;
        const double leaf_y = y;
        if (has_leaves_) y += fabric_level;
        place_boxes(y);
        place_leaves(leaf_y);
        if (spine_) set(*spine_, width_ / 2, gap / 2.0, std::min(width_ / 2, 320.0));
        place_storage();
        const int of_scale = 1 + static_cast<int>(legend_width / std::max(width_, legend_width / 3));
        const int of_levels = text_width(levels_text(map_), font_of(Type::small)) > width_ ? 2 : 1;
        const int lines = of_scale + of_levels + (out_.shown.left_out > 0 ? 1 : 0);
        out_.legend = {0, y + box_height() + 2 * gap, width_, 4 + lines * legend_line};
        out_.height = out_.legend.bottom();
        return std::move(out_);
    }

private:
    void find_fabric() {
        for (std::size_t v = vertices_.size(); v-- > 0 && !vertices_[v].node;) {
            if (vertices_[v].kind == VertexKind::spine) spine_ = static_cast<int>(v);
            if (vertices_[v].kind == VertexKind::leaf) has_leaves_ = true;
        }
    }

    // The other end of each link that leaves the node, and the vertices inside.
    std::map<VertexKind, std::vector<int>> parts_of(int node) const {
        std::map<VertexKind, std::vector<int>> parts;
        for (const int l : map_.links_of_node[static_cast<std::size_t>(node)])
            for (const int v : {link(l).from, link(l).to}) {
                std::vector<int>& of_kind = parts[vertices_[static_cast<std::size_t>(v)].kind];
                if (std::ranges::find(of_kind, v) == of_kind.end()) of_kind.push_back(v);
            }
        for (auto& [kind, list] : parts) std::ranges::sort(list);
        return parts;
    }
    int count_in_node(VertexKind kind) const {
        const auto parts = parts_of(0);
        const auto found = parts.find(kind);
        return found == parts.end() ? 0 : static_cast<int>(found->second.size());
    }
    const TopologyLink& link(int l) const { return map_.machine.topology->links()[static_cast<std::size_t>(l)]; }

    // From device to device, without a switch: arcs below them.
    bool has_direct_links() const {
        const auto is_device = [&](int v) { return vertices_[static_cast<std::size_t>(v)].kind == VertexKind::device; };
        return std::ranges::any_of(map_.links_of_node.front(), [&](int l) { return is_device(link(l).from) && is_device(link(l).to); });
    }
    double box_height() const {
        const auto parts = parts_of(0);
        const auto levels = std::ranges::count_if(levels_of_node, [&](VertexKind k) { return parts.contains(k); });
        const double more = (names_ranks(map_) ? ranks_line : 0) + (has_direct_links() ? arcs_height : 0) +
                            (parts.contains(VertexKind::pcie_switch) ? memory_level : 0);
        return title_height + more + static_cast<double>(levels) * (part_height + between_levels) - between_levels + 2 * box_padding + 6;
    }

    void set(int vertex, double centre, double top, double width) {
        out_.place[vertex] = QRectF(centre - width / 2, top, width, part_height);
    }

    void place_boxes(double top) {
        const auto count = static_cast<double>(out_.shown.nodes.size());
        const double largest = std::max(200.0, cells_ * largest_cell + 2 * box_padding);
        const double width = std::min((width_ - (count - 1) * gap) / count, largest);
        double left = (width_ - count * width - (count - 1) * gap) / 2;
        for (const ShownNode& node : out_.shown.nodes) {
            const NodeBox box{node, {left, top, width, box_height()}};
            place_parts(box);
            out_.boxes.push_back(box);
            left += width + gap;
        }
    }

    void place_parts(const NodeBox& box) {
        const auto parts = parts_of(box.shown.node);
        double y = box.area.top() + box_padding;
        for (const VertexKind kind : levels_of_node) {
            const auto found = parts.find(kind);
            if (found == parts.end()) continue;
            const std::vector<int>& list = found->second;
            const double room = (box.area.width() - 2 * box_padding) / static_cast<double>(list.size());
            for (std::size_t i = 0; i < list.size(); ++i) {
                const double centre = box.area.left() + box_padding + (static_cast<double>(i) + 0.5) * room;
                if (kind == VertexKind::socket)
                    place_socket(parts, i, centre, y, room);
                else
                    set(list[i], centre, y,
                        std::min(room - 3, kind == VertexKind::peer_switch   ? 160.0
                                           : kind == VertexKind::pcie_switch ? 70.0
                                                                             : 34.0));
            }
            y += part_height + between_levels;
            if (kind == VertexKind::socket && parts.contains(VertexKind::pcie_switch)) y += memory_level;
        }
    }

    // With its memory close beside it. Where NICs and devices meet at PCIe switches their links pass by the sockets: both are no wider than
    // the room between two of these links, and stand above one another.
    void place_socket(const std::map<VertexKind, std::vector<int>>& parts, std::size_t i, double centre, double y, double room) {
        const bool above = parts.contains(VertexKind::pcie_switch);
        const double cell = room * static_cast<double>(parts.at(VertexKind::socket).size()) / cells_;
        const double width = std::min(above ? cell - 3 : room / 2 - 9, 62.0), aside = above ? 0 : width / 2 + 3;
        set(parts.at(VertexKind::socket)[i], centre - aside, y + (above ? memory_level : 0), width);
        const auto memories = parts.find(VertexKind::host_memory);
        if (memories != parts.end() && i < memories->second.size()) set(memories->second[i], centre + aside, y, width);
    }

    // Those that the shown nodes are connected to, above them.
    void place_leaves(double top) {
        std::map<int, std::pair<double, int>> above;  // by leaf: sum of the places below, and how many
        for (const NodeBox& box : out_.boxes)
            for (const int l : map_.links_of_node[static_cast<std::size_t>(box.shown.node)]) {
                const int leaf = link(l).to;
                if (vertices_[static_cast<std::size_t>(leaf)].kind != VertexKind::leaf) continue;
                above[leaf].first += out_.place.at(link(l).from).center().x();
                ++above[leaf].second;
            }
        std::vector<std::pair<double, int>> order;
        order.reserve(above.size());
        for (const auto& [leaf, places] : above) order.emplace_back(places.first / places.second, leaf);
        std::ranges::stable_sort(order);
        const double from = out_.boxes.front().area.left(), to = out_.boxes.back().area.right();
        const double room = (to - from) / std::max(1.0, static_cast<double>(order.size())), width = std::min(room - 4, switch_width);
        for (std::size_t i = 0; i < order.size(); ++i) {
            // Between straight above and evenly spread, so that none covers another.
            const double even = from + (static_cast<double>(i) + 0.5) * room;
            set(order[i].second, order.size() == 1 ? order[i].first : even, top, width);
        }
    }

    void place_storage() {
        if (!has_storage()) return;
        const double width = std::min(210.0, width_ / 3);
        out_.storage = {width_ - width, gap / 2.0, width, part_height};
    }
    bool has_storage() const {
        const DataSource& data = map_.scenario.data;
        return !data.synthetic && data.storage;
    }

    const ClusterMap& map_;
    std::span<const TopologyVertex> vertices_;
    double width_;
    int cells_ = 1;
    std::optional<int> spine_;
    bool has_leaves_ = false;
    ClusterLayout out_;
};

}  // namespace

bool names_ranks(const ClusterMap& map) { return map.layout.ranks() > 1000; }

QString levels_text(const ClusterMap& map) {
    static const std::pair<VertexKind, const char*> levels[] = {{VertexKind::spine, "spine"},
                                                                {VertexKind::leaf, "leaf switches"},
                                                                {VertexKind::nic, "NICs"},
                                                                {VertexKind::socket, "sockets (S) with their memory (RAM or M)"},
                                                                {VertexKind::pcie_switch, "PCIe switches"},
                                                                {VertexKind::device, "devices, by rank"},
                                                                {VertexKind::peer_switch, "NVSwitches"}};
    QStringList present;
    for (const auto& [kind, name] : levels) {
        const auto is_it = [kind = kind](const TopologyVertex& v) { return v.kind == kind; };
        if (std::ranges::any_of(map.machine.topology->vertices(), is_it)) present += QLatin1String(name);
    }
    return QStringLiteral("From the top: ") + present.join(QStringLiteral(", ")) + QLatin1Char('.');
}

ClusterLayout lay_out(const ClusterMap& map, double width, std::optional<int> rank) { return Layout(map, width, rank).place(); }

}  // namespace sextant::gui
