// nvidia-smi topo -m (its legend): X self, NV# so many bonded NVLinks, PIX one PCIe bridge, PXB several, PHB the host bridge, NODE between
// host bridges of a NUMA node, SYS between NUMA nodes. Adapters are columns NIC0 ... with a legend of their own, in older drivers
// columns of their names.
#include "model/io/calibration/gpu_topology.hpp"

#include "model/io/calibration/log_lines.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace sextant {
namespace {

bool is_path(std::string_view word) {
    constexpr std::string_view paths[] = {"X", "PIX", "PXB", "PHB", "NODE", "SYS"};
    return std::ranges::find(paths, word) != std::end(paths) || (word.starts_with("NV") && number_in(word.substr(2)));
}
bool behind_switch(std::string_view path) { return path == "PIX" || path == "PXB"; }
bool is_numbered(std::string_view word, std::string_view kind) { return word.starts_with(kind) && number_in(word.substr(kind.size())); }

class TopologyReader {
public:
    TopologyReader(const std::string& name, Diagnostics& diagnostics) : diagnostics_(diagnostics) { topology_.file = name; }

    GpuTopology read(std::string_view text) {
        std::map<std::string, std::string> names;  // of adapters, by column
        for (const LogLine& line : lines_of(text)) {
            const auto& w = line.words;
            if (w.empty()) continue;
            if (w[0] == "GPU0" && columns_.empty())
                read_head(line);
            else if (is_numbered(w[0], "GPU") && !columns_.empty())
                read_row(line);
            else if (w.size() == 2 && w[0].starts_with("NIC") && w[0].ends_with(':'))
                names[w[0].substr(0, w[0].size() - 1)] = w[1];
        }
        check();
        for (std::string& nic : topology_.nics)
            if (names.contains(nic)) nic = names[nic];
        return std::move(topology_);
    }

private:
    void read_head(const LogLine& line) {
        for (const std::string& word : line.words) {
            if (word == "CPU") break;  // "CPU Affinity", and what follows
            columns_.push_back(word);
            (is_numbered(word, "GPU") ? topology_.gpus : topology_.nics).push_back(word);
        }
        head_ = line.place(topology_.file);
    }

    void read_row(const LogLine& line) {
        const std::size_t row = topology_.paths.size();
        if (row >= topology_.gpus.size() || line.words[0] != topology_.gpus[row])
            return complain(line.place(topology_.file), "a row of " + line.words[0] + " where one of " +
                                                            (row < topology_.gpus.size() ? topology_.gpus[row] : "no more GPUs") +
                                                            " is due");
        std::vector<std::string> paths;
        for (std::size_t i = 1; i < line.words.size() && is_path(line.words[i]) && paths.size() < columns_.size(); ++i)
            paths.push_back(line.words[i]);
        if (paths.size() < columns_.size()) {
            complain(line.place(topology_.file), "the row has " + std::to_string(paths.size()) + " paths for " +
                                                     std::to_string(columns_.size()) + " columns: it is cut off, or not of nvidia-smi");
            paths.resize(columns_.size(), "SYS");
        }
        topology_.paths.push_back(std::move(paths));
    }

    void check() {
        if (columns_.empty()) return complain(topology_.file, "no line that begins with GPU0");
        const std::size_t n = topology_.gpus.size();
        if (topology_.paths.size() != n)
            return complain(head_,
                            std::to_string(topology_.paths.size()) + " rows for " + std::to_string(n) + " GPUs: the table is cut off");
        if (n > 64) return complain(head_, std::to_string(n) + " GPUs in one machine");
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = 0; b < n; ++b)
                if (topology_.paths[a][b] != topology_.paths[b][a] || (topology_.paths[a][b] == "X") != (a == b))
                    return complain(head_, "GPU" + std::to_string(a) + " reaches GPU" + std::to_string(b) + " by " + topology_.paths[a][b] +
                                               ", and that one this by " + topology_.paths[b][a]);
    }

    void complain(const std::string& place, std::string what) {
        diagnostics_.add({place, "", std::move(what), "the whole output of nvidia-smi topo -m"});
    }

    Diagnostics& diagnostics_;
    GpuTopology topology_;
    std::vector<std::string> columns_;
    std::string head_;  // its place
};

// What a report changes of a cluster, in words.
class Changes {
public:
    explicit Changes(std::string file) : file_(std::move(file)) {}

    void note(const std::string& what) { words.push_back(file_ + ": " + what); }
    template <class T>
    void set(T& field, const T& value, const std::string& what) {
        if (field == value) return;
        field = value;
        note(what);
    }

    std::vector<std::string> words;

private:
    std::string file_;
};

// By pair of GPUs; none from one to itself.
std::vector<std::vector<int>> link_counts(const GpuTopology& t) {
    std::vector<std::vector<int>> counts(t.gpus.size(), std::vector<int>(t.gpus.size(), 0));
    for (std::size_t a = 0; a < counts.size(); ++a)
        for (std::size_t b = 0; b < counts.size(); ++b)
            if (a != b) counts[a][b] = t.nvlinks(a, b);
    return counts;
}

void apply_nvlinks(const GpuTopology& t, Cluster& cluster, Changes& changes, Diagnostics& diagnostics) {
    PeerFabric& peers = cluster.node.peers;
    const auto counts = link_counts(t);
    const auto of_all = t.nvlinks_of_all();
    if (std::ranges::none_of(counts, [](const auto& row) { return std::ranges::any_of(row, [](int links) { return links > 0; }); })) {
        if (peers.layout != PeerLayout::none) changes.note("no NVLink between the devices");
        peers = {};
    } else if (peers.layout == PeerLayout::none) {
        diagnostics.add({t.file, "", "the devices have NVLinks, and the profile \"" + cluster.name + "\" has none",
                         "--cluster names a profile of a machine with NVLink"});
    } else if (peers.layout == PeerLayout::crossbar) {
        if (!of_all)
            diagnostics.add({t.file, "", "pairs of devices have unlike NVLinks, and \"" + cluster.name + "\" has a switch between all",
                             "--cluster names a profile of a machine without an NVSwitch"});
    } else if (of_all) {
        changes.set(peers.layout, PeerLayout::all_to_all, "links between every two devices");
        changes.set(peers.links, *of_all, std::to_string(*of_all) + " links between every two");
        peers.link_count.clear();
    } else {
        peers.layout = PeerLayout::matrix;
        changes.set(peers.link_count, counts, "links as its matrix says");
    }
}

}  // namespace

int GpuTopology::nvlinks(std::size_t a, std::size_t b) const {
    const std::string& path = paths[a][b];
    return path.starts_with("NV") ? static_cast<int>(number_in(std::string_view(path).substr(2)).value_or(0)) : 0;
}

std::optional<int> GpuTopology::nvlinks_of_all() const {
    if (gpus.size() < 2) return std::nullopt;
    for (std::size_t a = 0; a < gpus.size(); ++a)
        for (std::size_t b = 0; b < a; ++b)
            if (nvlinks(a, b) != nvlinks(0, 1)) return std::nullopt;
    return nvlinks(0, 1);
}

int GpuTopology::gpus_of_switch() const {
    const std::size_t n = gpus.size();
    const auto together = [&](std::size_t a, std::size_t b) {
        if (behind_switch(paths[a][b])) return true;
        for (std::size_t c = n; c < paths[a].size(); ++c)
            if (behind_switch(paths[a][c]) && behind_switch(paths[b][c])) return true;
        return false;
    };
    std::set<std::size_t> sizes;
    for (std::size_t a = 0; a < n; ++a) {
        std::size_t size = 1;
        for (std::size_t b = 0; b < n; ++b) size += b != a && together(a, b) ? 1 : 0;
        sizes.insert(size);
    }
    return sizes.size() == 1 && n % *sizes.begin() == 0 ? static_cast<int>(*sizes.begin()) : 1;
}

std::vector<std::string> GpuTopology::compute_nics() const {
    std::vector<std::string> near;
    for (std::size_t c = 0; c < nics.size(); ++c)
        if (std::ranges::any_of(paths, [&](const auto& row) { return behind_switch(row[gpus.size() + c]); })) near.push_back(nics[c]);
    return near.empty() ? nics : near;
}

GpuTopology read_gpu_topology(std::string_view text, const std::string& name, Diagnostics& diagnostics) {
    return TopologyReader(name, diagnostics).read(text);
}

std::vector<std::string> apply(const GpuTopology& t, Cluster& cluster, Diagnostics& diagnostics) {
    NodeSpec& node = cluster.node;
    Changes changes(t.file);
    const int gpus = static_cast<int>(t.gpus.size());
    changes.set(node.devices, gpus, std::to_string(gpus) + " devices");
    apply_nvlinks(t, cluster, changes, diagnostics);
    changes.set(node.devices_per_switch, t.gpus_of_switch(), std::to_string(t.gpus_of_switch()) + " devices at a PCIe switch");
    const int nics = static_cast<int>(t.compute_nics().size());
    if (node.nics > 0 && nics > 0) changes.set(node.nics, nics, std::to_string(nics) + " adapters beside the devices");
    return changes.words;
}

}  // namespace sextant
