#include "model/io/scenario/scenario_reader.hpp"

#include "model/base/enum_names.hpp"
#include "model/io/format/json_assignment.hpp"
#include "model/io/profile/profile_fields.hpp"
#include "model/io/scenario/allocation_reader.hpp"
#include "model/io/scenario/data_source_reader.hpp"
#include "model/io/scenario/device_overrides.hpp"
#include "model/io/scenario/plan_reader.hpp"
#include "model/io/scenario/run_reader.hpp"
#include "model/plan/framework_defaults.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <numeric>
#include <set>

namespace sextant {
namespace {

constexpr auto scenario_schema = "scenario/1";

std::size_t problems(const JsonNode& node) { return node.diagnostics->list().size(); }

// ---- hardware

void read_network(ObjectReader& r, const ScenarioSources& sources, Scenario& scenario) {
    NodeSpec& node = scenario.cluster.node;
    if (const JsonNode n = r.get("network"); n.value) node.nic_link = sources.link(n);
    if (const JsonNode n = r.get("peer_link"); n.value) node.peers.link = sources.link(n);
    if (const JsonNode n = r.get("host_link"); n.value) node.host_link = sources.link(n);
    r.optional("host_memory", node.host.memory, plausible::memory);
    r.optional("nics", node.nics, Bounds{0, 64});
    r.get("network_bandwidth");  // when it is known which network is used
    r.optional("ethernet", scenario.use_ethernet);
    if (scenario.use_ethernet && !node.ethernet && node.nic_link.category != LinkCategory::ethernet)
        r.get("ethernet")
            .complain("the profile of " + scenario.cluster.name + " names no Ethernet interface",
                      "state it in an inline cluster, as \"ethernet\" of its node");
}

// Sets the bandwidth of the link in use, which depends on the library.
void read_network_bandwidth(const JsonNode& hardware, Scenario& scenario) {
    ObjectReader r(hardware);
    r.ignore_others();
    r.default_source(stated_by_scenario);
    const JsonNode n = r.get("network_bandwidth");
    if (!n.value) return;
    NodeSpec& node = scenario.cluster.node;
    const bool over_ethernet = uses_sockets(scenario) && node.ethernet;
    r.read(n, (over_ethernet ? *node.ethernet : node.nic_link).bandwidth, plausible::bandwidth);
    if (node.nics == 0 && !over_ethernet)
        n.complain("the nodes of " + scenario.cluster.name + " have no network", "state nics and network too");
}

constexpr Word<bool> batches_words[] = {{"equal", false}, {"by_speed", true}};

void read_unevenness(ObjectReader& r, const ScenarioSources& sources, Scenario& scenario) {
    r.optional("step_noise", scenario.step_noise, Bounds{0, 10});
    const JsonNode node = r.get("straggler");
    if (!node.value) return;
    ObjectReader inner(node);
    Straggler straggler;
    inner.required("devices", straggler.devices);
    const JsonNode device = inner.get("device");
    if (device.value)
        straggler.device = sources.device(device);
    else
        inner.required("speed", straggler.speed, Bounds{0.001, 1});
    if (device.value && inner.get("speed").value) inner.get("speed").complain("\"device\" says how fast it is", "state one of them");
    inner.word("batches", straggler.has_smaller_batches, batches_words);
    if (straggler.has_smaller_batches && !device.value)
        inner.get("batches").complain("which device is slow is not said", "\"device\" in place of \"speed\"");
    scenario.straggler = straggler;
}

// Each rank still has a device of its own, with a part of the memory; what they share is in NodeSpec.
void read_sharing(ObjectReader& r, Scenario& scenario) {
    int ranks = 1;
    constexpr double most = 64;
    if (!r.optional("ranks_per_device", ranks, Bounds{1, most}) || ranks == 1) return;
    NodeSpec& node = scenario.cluster.node;
    if (node.device.kind != DeviceKind::cpu)
        return r.get("ranks_per_device").complain("several ranks on one " + node.device.name, "only the cores of a CPU are shared");
    node.ranks_per_device = ranks;
    node.devices *= ranks;
    node.device.memory.value = node.device.memory.value / ranks;
}

struct Nodes {
    std::optional<int> nodes;
    DevicesOfNodes devices;
    bool has_cluster = false, usable = false;
};

// Devices that the scenario asks for, where it says how many: those of each node, `nodes` nodes of them, the nodes of a list, or the one
// node of a single machine.
std::optional<std::int64_t> stated_devices(const Nodes& wanted, const Cluster& cluster) {
    if (const std::vector<int>& of_node = wanted.devices.of_node; !of_node.empty())
        return std::accumulate(of_node.begin(), of_node.end(), std::int64_t{0});
    const std::int64_t per_node = wanted.devices.each.value_or(cluster.node.devices);
    if (wanted.nodes) return *wanted.nodes * per_node;
    if (!cluster.node_numbers.empty()) return std::ssize(cluster.node_numbers) * per_node;
    if (cluster.nodes == 1) return per_node;
    return std::nullopt;
}

Nodes read_hardware(const JsonNode& node, const ScenarioSources& sources, Scenario& scenario) {
    Nodes wanted;
    ObjectReader r(node);
    if (!r) return wanted;
    r.default_source(stated_by_scenario);
    const std::size_t before = problems(node);
    if (const JsonNode n = r.need("cluster", "`sextant profiles list` names those that are bundled"); n.value)
        scenario.cluster = sources.cluster(n);
    const bool found = wanted.has_cluster = problems(node) == before;
    r.optional("cluster_nodes", scenario.cluster.nodes);
    if (const JsonNode n = r.get("device"); n.value) read_device(n, sources, scenario.cluster.node.device);
    if (found)
        read_sharing(r, scenario);
    else
        r.get("ranks_per_device");
    if (r.optional("nodes", wanted.nodes) && found && *wanted.nodes > scenario.cluster.nodes)
        r.get("nodes").complain(std::to_string(*wanted.nodes) + " nodes are more than there are",
                                scenario.cluster.name + " has " + std::to_string(scenario.cluster.nodes) +
                                    "; \"cluster_nodes\" asks what a larger one would do");
    wanted.devices = read_devices_of_nodes(r);
    if (found) read_node_list(r, scenario.cluster);
    if (found)
        read_network(r, sources, scenario);
    else
        r.ignore_others();  // a network cannot be judged without its cluster
    read_allocation(r, scenario);
    read_unevenness(r, sources, scenario);
    wanted.usable = problems(node) == before;
    return wanted;
}

// `nodes` and the plan must tell of the same machine.
void check_nodes(const JsonNode& node, const Nodes& wanted, const Scenario& scenario) {
    const Cluster& cluster = scenario.cluster;
    const Plan& plan = scenario.plan;
    const double devices = static_cast<double>(plan.dp) * plan.tp * plan.pp * plan.cp;
    const std::vector<int>& of_node = wanted.devices.of_node;
    const auto there = std::accumulate(of_node.begin(), of_node.end(), std::int64_t{0});
    if (!of_node.empty() && !wanted.devices.uneven() && static_cast<double>(there) != devices)  // check_plan knows of uneven ones
        return node.child("devices_per_node")
            .complain(std::to_string(there) + " devices on these nodes, and the plan has " + number_text(devices, 1),
                      "dp x tp x pp x cp is the number of devices; without dp it follows");
    if (!wanted.nodes) return;
    const std::int64_t listed = std::ssize(of_node);
    if (listed > 0 && listed != *wanted.nodes)
        return node.child("nodes").complain("devices_per_node lists " + std::to_string(listed), "leave nodes out");
    const double per_node = wanted.devices.each.value_or(cluster.node.devices);
    if (listed > 0) return;
    if (devices > *wanted.nodes * per_node)
        node.child("nodes").complain(
            "the plan needs " + number_text(devices, 1) + " devices, these nodes have " + number_text(*wanted.nodes * per_node, 1),
            "dp x tp x pp x cp is the number of devices; leave nodes out to have it follow from the plan");
    else if (devices <= (*wanted.nodes - 1) * per_node && scenario.reserved_devices == 0)
        node.child("nodes").complain("the plan uses " + number_text(devices, 1) + " of the " + number_text(*wanted.nodes * per_node, 1) +
                                         " devices and leaves whole nodes idle",
                                     "raise dp, or say that they are paid for with \"reserved_devices\"");
}

// ---- the rest

// An epoch has as many samples in one as in the other.
void join_data_and_run(const JsonNode& root, Scenario& s) {
    if (s.data.samples && s.run.dataset_samples && *s.data.samples != *s.run.dataset_samples)
        root.child("data").child("samples").complain("run.dataset_samples says " + std::to_string(*s.run.dataset_samples),
                                                     "state one of them");
    if (!s.data.samples) s.data.samples = s.run.dataset_samples;
    if (!s.run.dataset_samples) s.run.dataset_samples = s.data.samples;
    if (s.run.epochs && !s.run.dataset_samples) root.child("run").complain("\"dataset_samples\" is missing", "the samples of one epoch");
    if (s.data.staging.mode != StagingMode::none && !s.data.samples)
        root.child("data").complain("\"samples\" is missing", "how many are staged, or run.dataset_samples");
}

void read_framework(ObjectReader& r, const ScenarioSources& sources, Scenario& scenario) {
    const JsonNode node = r.need("framework", "as in \"megatron-core\" or \"pytorch-ddp\"");
    const std::size_t before = problems(r.node());
    if (node.value) scenario.framework = sources.framework(node);
    const JsonNode library = r.get("library");
    std::string name;
    // As it was measured on this machine, where it was.
    const auto use = [&](const JsonNode& from) {
        const auto& measured = scenario.cluster.library;
        scenario.library = measured && measured->name == name ? *measured : sources.library(name, from);
    };
    if (library.value) {
        if (read_value(library, name)) use(library);
        return;
    }
    if (!node.value || problems(r.node()) != before) return;
    name = usual_library(scenario.framework, scenario.cluster.node.device, scenario.use_ethernet);
    use(node);
}

void narrow_frozen_weights(Scenario& s) {
    if (!loads_frozen_weights_narrow(s.plan, s.framework, s.workload)) return;
    s.plan.autocast = false;
    s.assumptions.push_back("the frozen model is loaded in " + std::string(to_text(s.plan.precision.compute)) +
                            ": plan.autocast=true keeps it in fp32");
}

// Fields of the plan that a search may choose, and is not to.
void read_pinned(ObjectReader& r, std::vector<std::string>& pinned) {
    r.each("pinned", [&](const JsonNode& n) {
        std::string name;
        if (!read_value(n, name)) return;
        if (!plan_field(name)) return complain_about_word(n, name, enumerator_names(all_plan_fields));
        pinned.push_back(std::move(name));
    });
}

// Adds what is wrong with the network whatever the plan. Where it is described in place, its fields are one level further down than those
// laid over a network that is named.
void check_network(const JsonNode& node, const Workload& workload) {
    const std::string above = node.pointer + '/';
    std::string described;
    for (const char* kind : {"transformer", "convolutional"})
        if (node.child(kind).value) described = kind + std::string("/");
    try {
        build_network(workload, Shard{});
    } catch (const InputError& e) {
        for (const Diagnostic& d : e.diagnostics()) {
            JsonNode place = node;
            place.pointer = d.pointer;
            if (d.pointer.starts_with(above)) place.pointer.insert(above.size(), described);
            place.complain(d.what, d.hint);
        }
    }
}

// `wanted`: the nodes that dp fills where it is not stated.
std::optional<Plan> read_plan(ObjectReader& r, const Nodes& wanted, const Cluster& cluster) {
    const JsonNode n = r.need("plan", R"(as in {"dp": 8, "micro_batch": 1, "global_batch": 64})");
    if (!n.value) return {};
    const auto devices = wanted.usable ? stated_devices(wanted, cluster) : std::nullopt;
    if (wanted.usable && !devices && n.is_object() && !n.child("dp").value)
        n.complain("\"dp\" is missing", "or state hardware.nodes: then dp fills them");
    return read_plan(n, devices);
}

// Complains about another kind of file, whose keys are not a scenario's.
bool is_scenario(const JsonFile& file) {
    if (const JsonNode schema = file.root().child("schema"); schema.is_string() && *schema.value != scenario_schema) {
        schema.complain(schema.value->dump() + " is another kind of file", std::string("expected \"") + scenario_schema + "\"");
        return false;
    }
    if (const JsonNode rows = file.root().child("rows"); rows.is_array()) {
        rows.complain("these are published measurements, and no scenario",
                      "name one of them, 'FILE#ROW': `sextant validate FILE --rows` lists them");
        return false;
    }
    return true;
}

std::optional<Workload> read_checked_workload(ObjectReader& r, const ScenarioSources& sources) {
    const JsonNode n = r.need("workload", "as in \"gpt3-175b\"");
    if (!n.value) return {};
    std::optional<Workload> workload = read_workload(n, sources.workload);
    if (workload) check_network(n, *workload);
    return workload;
}

using MeantElsewhere = std::function<std::string(const std::string& key)>;

Scenario read(const JsonFile& file, const ScenarioSources& sources, Diagnostics& diagnostics, const MeantElsewhere& meant) {
    Scenario scenario;
    scenario.file = file.name();
    if (!is_scenario(file)) return scenario;
    ObjectReader r(file.root());
    if (!r) return scenario;
    r.meant_elsewhere(meant);
    r.schema(scenario_schema);
    if (r.required("name", scenario.name) && scenario.name.empty()) r.get("name").complain("a scenario has a name");
    r.optional("description", scenario.description);
    r.optional("assumptions", scenario.assumptions);

    const std::optional<Workload> workload = read_checked_workload(r, sources);
    if (workload) scenario.workload = *workload;

    const JsonNode hardware = r.need("hardware", R"(as in {"cluster": "selene"})");
    Nodes wanted;
    if (hardware.value) wanted = read_hardware(hardware, sources, scenario);

    const std::optional<Plan> plan = read_plan(r, wanted, scenario.cluster);
    if (plan) scenario.plan = *plan;
    read_pinned(r, scenario.pinned);
    scenario.plan.devices_per_node = wanted.devices.each;
    if (wanted.devices.uneven()) scenario.plan.node_ranks = wanted.devices.of_node;
    if (wanted.usable) leave_part_of_cores(scenario);

    read_framework(r, sources, scenario);
    narrow_frozen_weights(scenario);
    scenario.plan.head_chunks = std::max(scenario.plan.head_chunks, scenario.framework.head_chunks);
    const std::size_t before_bandwidth = problems(hardware);
    if (wanted.has_cluster) read_network_bandwidth(hardware, scenario);
    wanted.usable = wanted.usable && problems(hardware) == before_bandwidth;
    // Storage cannot be judged without its cluster.
    if (const JsonNode n = r.get("data"); n.value && wanted.has_cluster)
        read_data_source(n, sources.storage, scenario.cluster, scenario.data);
    if (const JsonNode n = r.get("run"); n.value) read_run(n, scenario.workload, scenario.run);
    join_data_and_run(file.root(), scenario);

    if (plan && workload && wanted.usable) {
        check_nodes(hardware, wanted, scenario);
        for (Diagnostic& d : check_plan(scenario)) diagnostics.add(std::move(d));
    }
    return scenario;
}

// What of the members of a document would be known one level further down: "tp" as "plan.tp". Each part is read with all of them in it.
std::map<std::string, std::string> places_below(const JsonFile& file, const ScenarioSources& sources) {
    constexpr auto of_no_part = "?";  // where this passes, a part cannot tell what it knows
    constexpr std::size_t by_mistake = 100;
    std::map<std::string, std::string> places;
    std::vector<std::string> keys{of_no_part};
    for (const auto& [key, node] : file.root().members()) keys.push_back(key);
    if (keys.size() > by_mistake) return places;
    for (const char* part : {"plan", "workload", "hardware", "data", "run", "framework"}) {
        nlohmann::json document = *file.root().value;
        nlohmann::json& inner = document[part];
        if (!inner.is_object()) inner = object_in_place_of(inner, part);
        for (const std::string& key : keys) {
            nlohmann::json* const network = described_network(inner, part, key);
            (network && network->is_object() ? *network : inner).emplace(key, nullptr);
        }
        Diagnostics problems;
        read(JsonFile::from_text(document.dump(), file.name(), problems), sources, problems, {});
        std::set<std::string> refused;
        for (const Diagnostic& d : problems.list())
            if (d.pointer.starts_with('/' + std::string(part) + '/')) refused.insert(d.pointer.substr(d.pointer.rfind('/')));
        const auto is_known = [&](const std::string& key) { return !refused.contains(file.root().child(key).pointer); };
        if (is_known(of_no_part)) continue;
        for (const std::string& key : keys)
            if (is_known(key)) places.emplace(key, std::string(part) + '.' + key);
    }
    return places;
}

}  // namespace

Scenario read_scenario(const JsonFile& file, const ScenarioSources& sources, Diagnostics& diagnostics) {
    std::optional<std::map<std::string, std::string>> places;
    return read(file, sources, diagnostics, [&](const std::string& key) {
        if (!places) places = places_below(file, sources);
        const auto place = places->find(key);
        return place == places->end() ? std::string() : place->second;
    });
}

}  // namespace sextant
