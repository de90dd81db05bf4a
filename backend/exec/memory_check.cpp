#include "backend/exec/memory_check.hpp"

#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "model/plan/partition.hpp"
#include "model/plan/rank_layout.hpp"
#include "model/sextant.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <optional>

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr Bytes everything = std::numeric_limits<double>::infinity() * units::B;

// "MemAvailable:   123 kB", "inactive_file 123": the number behind the word.
std::optional<double> number_behind(const fs::path& file, const std::string& word) {
    std::ifstream in(file);
    std::string found;
    double number = 0;
    while (in >> found) {
        if (found == word && in >> number) return number;
        in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return {};
}

// "max", where there is no limit, is none.
std::optional<double> number_in(const fs::path& file) {
    double number = 0;
    return std::ifstream(file) >> number ? std::optional(number) : std::nullopt;
}

// A group and all that it lies in.
Bytes left_in_groups(const fs::path& mount, const fs::path& group, const char* limit_name, const char* usage_name) {
    Bytes left = everything;
    for (fs::path at = group.relative_path();; at = at.parent_path()) {
        const fs::path folder = mount / at;
        const std::optional<double> limit = number_in(folder / limit_name), used = number_in(folder / usage_name);
        const double cache = number_behind(folder / "memory.stat", "inactive_file").value_or(0);
        if (limit && used) left = min(left, std::max(0.0, *limit - *used + cache) * units::B);
        if (at.empty()) return left;
    }
}

Bytes of_server(const Scenario& s, const StageMemory& worker) {
    const double share = 1.0 / parameter_server_count(s);
    const bool apart = s.plan.is_asynchronous();  // each worker gets a copy of its own
    const Bytes weights = worker[MemoryKind::weights];
    const int states = facts_of(s.plan.optimizer).states;
    return share * (weights * (2.0 + states) + weights * static_cast<double>(apart ? s.plan.dp : 0));
}

// Where a host is full of what the plan offloads: that is as large whatever the micro-batch, and whatever is computed twice.
std::string advice_for_offload(const Scenario& s) {
    const Plan& plan = s.plan;
    std::string text = "what would help: ";
    if (plan.dp * plan.cp > 1 && !plan.has_shards()) text += "\"data_parallel\": \"zero1\", ";
    if (plan.offloads_parameters()) text += "\"offload\": \"optimizer\", ";
    return text + "\"offload\": \"none\", more hosts with fewer ranks on each";
}

// What would help, of what this plan does not do yet.
std::string advice(const Scenario& s) {
    const Plan& plan = s.plan;
    std::string text = "what would help: ";
    if (plan.micro_batch > 1) text += "a smaller micro_batch, ";
    if (!plan.forward_only && plan.recompute == Recompute::none) text += "\"recompute\": \"full\", ";
    if (plan.dp * plan.cp > 1 && !plan.has_shards() && !plan.has_servers()) text += "\"data_parallel\": \"zero3\", ";
    if (plan.tp == 1) text += "tensor parallelism, ";
    return text + "more hosts with fewer ranks on each";
}

}  // namespace

Bytes available_memory(const fs::path& root) {
    Bytes available = everything;
    if (const auto kib = number_behind(root / "proc/meminfo", "MemAvailable:")) available = *kib * units::KiB;
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
        if (controllers.empty())
            available = min(available, left_in_groups(root / "sys/fs/cgroup", group, "memory.max", "memory.current"));
        else if (controllers == "memory")
            available =
                min(available, left_in_groups(root / "sys/fs/cgroup/memory", group, "memory.limit_in_bytes", "memory.usage_in_bytes"));
    }
    return available;
}

std::vector<Bytes> predicted_peaks(const Scenario& s) {
    const Estimate e = estimate(prepare(s));
    std::vector<Bytes> by_stage;
    for (const StageMemory& m : e.memory) by_stage.push_back(m.allocated());
    const RankLayout layout = layout_of(s);
    std::vector<Bytes> peaks;
    peaks.reserve(static_cast<std::size_t>(layout.ranks()));
    for (int r = 0; r < layout.ranks(); ++r) peaks.push_back(by_stage[static_cast<std::size_t>(layout.place_of(r).pipeline)]);
    if (s.plan.has_servers()) peaks.insert(peaks.end(), static_cast<std::size_t>(parameter_server_count(s)), of_server(s, e.memory[0]));
    return peaks;
}

Bytes predicted_offload(const Scenario& s) { return estimate(prepare(s)).host.total() / used_devices_per_node(s); }

std::string memory_refusal(const Scenario& s, std::span<const RankNeed> ranks) {
    struct Host {
        Bytes available = everything, needed, offloaded;
        int ranks = 0;
    };
    std::map<std::string, Host> hosts;
    for (const RankNeed& r : ranks) {
        Host& host = hosts[r.host];
        host.available = min(host.available, r.available);
        host.needed += r.needed;
        if (r.offloaded) host.offloaded += r.needed;
        ++host.ranks;
    }
    for (const auto& [name, host] : hosts)
        if (host.needed > host.available)
            return s.file + ": the plan does not fit in memory: " + counted(host.ranks, "rank") + " on " + name + " will need " +
                   to_text(host.needed) + ", and " + to_text(host.available) + " are available there; " +
                   (host.offloaded > 0.5 * host.needed ? advice_for_offload(s) : advice(s));
    return {};
}

}  // namespace sextant
