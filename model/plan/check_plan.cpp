#include "model/base/ceil_divide.hpp"
#include "model/plan/job_storage.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>

namespace sextant {
namespace {

std::string text(std::int64_t n) { return std::to_string(n); }

std::string counted(std::int64_t n, const std::string& noun) { return text(n) + " " + noun + (n == 1 ? "" : "s"); }

std::string does_not_divide(std::int64_t divisor, std::int64_t whole) { return text(divisor) + " does not divide " + text(whole); }

constexpr std::int64_t most_devices = 1'000'000;  // of a job: ten times the largest that there are

struct Check {
    const Scenario& scenario;
    const Plan& plan = scenario.plan;
    const TransformerSpec* transformer = scenario.workload.transformer();
    std::vector<Diagnostic> problems;

    void complain(const std::string& pointer, std::string what, std::string hint = {}) {
        problems.push_back({scenario.file, pointer, std::move(what), std::move(hint)});
    }
    std::int64_t devices() const { return std::int64_t{plan.dp} * plan.tp * plan.pp * plan.cp; }
    std::int64_t data_ranks() const { return std::int64_t{plan.dp} * plan.cp; }
    // "snellius has 36 nodes of 4 devices"
    std::string machine() const {
        const Cluster& cluster = scenario.cluster;
        return cluster.name + " has " + counted(cluster.nodes, "node") + " of " + counted(cluster.node.devices, "device");
    }
};

// A plan from a reader has this; one put together by a program may not, and nothing below may divide by zero or overflow.
bool check_ranges(Check& c) {
    constexpr std::int64_t largest_degree = 1'000'000, largest_batch = 1'000'000'000'000;
    const auto require = [&](const char* name, std::int64_t value, std::int64_t largest) {
        if (value < 1) c.complain(std::string("/plan/") + name, std::string(name) + " must be at least 1, not " + text(value));
        if (value > largest)
            c.complain(std::string("/plan/") + name, std::string(name) + " must be at most " + text(largest) + ", not " + text(value));
    };
    const Plan& p = c.plan;
    const std::pair<const char*, std::int64_t> degrees[] = {
        {"dp", p.dp}, {"tp", p.tp}, {"pp", p.pp}, {"cp", p.cp}, {"vpp", p.vpp}, {"ep", p.ep}, {"shard_group", p.shard_group.value_or(1)}};
    for (const auto& [name, value] : degrees) require(name, value, largest_degree);
    require("micro_batch", p.micro_batch, largest_batch);
    require("global_batch", p.global_batch, largest_batch);
    require("head_chunks", p.head_chunks, largest_degree);
    if (p.has_servers()) require("parameter_servers", p.parameter_servers, largest_degree);
    for (const int blocks : p.stage_blocks) require("stage_blocks", blocks, largest_degree);
    return c.problems.empty();
}

void check_straggler(Check& c) {
    const auto& slow = c.scenario.straggler;
    if (!slow) return;
    if (slow->devices > c.devices())
        c.complain("/hardware/straggler/devices", "more than the " + text(c.devices()) + " devices that the plan uses");
    if (slow->has_smaller_batches && !copies_are_of_one_kind(c.plan, *slow))
        c.complain("/hardware/straggler/batches", "a copy of the model has slow devices and others: it takes samples at one speed",
                   "copies of one kind of device alone");
}

// Where a scheduler gave so many ranks to each node.
void check_node_ranks(Check& c) {
    const Cluster& cluster = c.scenario.cluster;
    const std::vector<int>& ranks = c.plan.node_ranks;
    const std::string size = c.machine();
    const auto complain = [&](std::string what, std::string hint) {
        c.complain("/hardware/devices_per_node", std::move(what), std::move(hint));
    };
    for (const int here : {std::ranges::min(ranks), std::ranges::max(ranks)})
        if (here < 1 || here > cluster.node.devices) return complain("no node has " + counted(here, "device"), size);
    if (std::ssize(ranks) > cluster.nodes) return complain(counted(std::ssize(ranks), "node") + " are more than there are", size);
    const auto all = std::accumulate(ranks.begin(), ranks.end(), std::int64_t{0});
    if (all != c.devices())
        complain(counted(all, "device") + " on these nodes, and the plan has " + text(c.devices()),
                 "dp x tp x pp x cp is the number of devices; without dp it follows");
    if (c.plan.scattered) c.complain("/plan/scattered", "devices_per_node says where the ranks are", "leave one of them out");
}

// Which nodes it gave, of the plan's so many.
void check_node_list(Check& c, std::int64_t nodes) {
    const std::vector<int>& numbers = c.scenario.cluster.node_numbers;
    if (numbers.empty()) return;
    if (nodes != std::ssize(numbers))
        c.complain("/hardware/node_list", counted(std::ssize(numbers), "node") + ", and the plan has ranks on " + text(nodes),
                   "as SLURM_JOB_NODELIST has them; without dp the plan fills them");
    if (c.plan.scattered) c.complain("/plan/scattered", "node_list says which nodes the ranks are on", "leave one of them out");
}

// Beside the workers' so many.
void check_hosts_of_servers(Check& c, std::int64_t nodes, bool networked) {
    if (!networked && nodes == 1)
        c.complain("/plan/servers_on_workers", "servers on hosts of their own need a network",
                   c.machine() + " and no NIC; true shares the workers' hosts");
    if (nodes + c.plan.parameter_servers > c.scenario.cluster.nodes)
        c.complain("/plan/parameter_servers",
                   counted(c.plan.parameter_servers, "server") + " beside " + counted(nodes, "node") + " of workers",
                   c.machine() + "; \"servers_on_workers\": true lets them share the workers' hosts");
}

void check_reserved(Check& c) {
    const Cluster& cluster = c.scenario.cluster;
    const int reserved = c.scenario.reserved_devices;
    if (reserved != 0 && reserved < c.devices())
        c.complain("/hardware/reserved_devices", "fewer than the " + text(c.devices()) + " that the plan uses: " + text(reserved));
    if (static_cast<double>(reserved) > static_cast<double>(cluster.nodes) * cluster.node.devices)
        c.complain("/hardware/reserved_devices", "more than there are: " + text(reserved), c.machine());
}

void check_machine(Check& c) {
    if (!c.plan.node_ranks.empty()) check_node_ranks(c);
    const Cluster& cluster = c.scenario.cluster;
    const int per_node = c.plan.devices_per_node.value_or(cluster.node.devices);
    const std::string size = c.machine();
    if (per_node > cluster.node.devices || per_node < 1)
        return c.complain("/hardware/devices_per_node", "no node has " + counted(per_node, "device"), size);
    // In floating point: four degrees of a million would overflow.
    const double wanted = static_cast<double>(c.plan.dp) * c.plan.tp * c.plan.pp * c.plan.cp;
    const double available = static_cast<double>(cluster.nodes) * per_node;
    const std::string product =
        "dp " + text(c.plan.dp) + " x tp " + text(c.plan.tp) + " x pp " + text(c.plan.pp) + " x cp " + text(c.plan.cp);
    if (wanted > available) {
        const bool fewer_copies = wanted / static_cast<double>(c.plan.dp) <= available;
        return c.complain("/plan", product + " needs more devices than the " + text(static_cast<std::int64_t>(available)) + " there are",
                          size + (per_node < cluster.node.devices ? ", of which the job uses " + text(per_node) : "") +
                              (fewer_copies ? "; without dp (\"dp\": null) the plan fills them" : ""));
    }
    if (wanted > most_devices)
        return c.complain("/plan", product + " is " + text(c.devices()) + " devices", "at most " + text(most_devices));
    const std::int64_t nodes = c.plan.node_ranks.empty() ? ceil_divide(c.devices(), per_node) : std::ssize(c.plan.node_ranks);
    check_node_list(c, nodes);
    const bool networked = cluster.node.nics > 0 || (c.scenario.use_ethernet && cluster.node.ethernet);
    if (nodes > 1 && !networked)
        c.complain("/plan", product + " needs " + text(nodes) + " nodes, but they have no network", size + " and no NIC");
    if (c.plan.has_servers() && !c.plan.servers_on_workers) check_hosts_of_servers(c, nodes, networked);
    check_reserved(c);
    check_straggler(c);
}

void check_batch(Check& c) {
    const std::int64_t samples = c.plan.micro_batch * c.plan.dp;
    if (c.plan.global_batch % samples == 0) return;
    c.complain("/plan/global_batch", "micro_batch x dp must divide global_batch: " + does_not_divide(samples, c.plan.global_batch),
               "the nearest that do: " +
                   (c.plan.global_batch > samples ? text(c.plan.global_batch / samples * samples) + " and " : std::string{}) +
                   text((c.plan.global_batch / samples + 1) * samples));
}

void check_schedule(Check& c) {
    const std::int64_t micro_batches = c.plan.global_batch / (c.plan.micro_batch * c.plan.dp);
    if (c.plan.schedule == Schedule::interleaved) {
        if (c.plan.vpp < 2) c.complain("/plan/vpp", "the interleaved schedule needs at least two chunks per stage", "\"vpp\": 2");
        if (c.plan.pp < 2) c.complain("/plan/pp", "the interleaved schedule needs a pipeline", "pp of 2 or more");
        if (micro_batches % c.plan.pp != 0)
            c.complain("/plan/schedule",
                       "interleaving needs micro-batches in multiples of pp: " + does_not_divide(c.plan.pp, micro_batches),
                       "change global_batch or micro_batch");
    } else if (turns_back(c.plan.schedule)) {
        if (c.plan.vpp != 2) c.complain("/plan/vpp", "a pipeline that turns back has two chunks per stage", "\"vpp\": 2, or none");
        if (c.plan.pp < 2) c.complain("/plan/pp", "this schedule needs a pipeline", "pp of 2 or more");
    } else if (c.plan.vpp > 1) {
        c.complain("/plan/vpp", "only the interleaved schedule has " + text(c.plan.vpp) + " chunks per stage",
                   R"("schedule": "interleaved", or "vpp": 1)");
    }
    if (c.plan.schedule == Schedule::sequential && micro_batches > 1)
        c.complain("/plan/schedule", "the sequential schedule passes the whole batch as one micro-batch, not " + text(micro_batches),
                   "\"schedule\": \"gpipe\" cuts the batch");
}

// The layers of encoder and decoder together where it has both.
std::int64_t layers_of(const TransformerSpec& t) {
    if (t.kind != TransformerKind::encoder_decoder) return t.layers;
    return t.layers + (t.decoder_layers > 0 ? t.decoder_layers : t.layers);
}

// Blocks of the network where they follow from its parameters: layers, and an input and a head; a decoder behind an encoder has an input
// too.
std::optional<std::int64_t> blocks(const Workload& workload) {
    if (const auto* mlp = std::get_if<MlpSpec>(&workload.spec)) return static_cast<std::int64_t>(mlp->widths.size()) - 1;
    if (const auto* graph = std::get_if<GraphSpec>(&workload.spec)) return static_cast<std::int64_t>(graph->network.sequence.size());
    const auto* t = workload.transformer();
    if (!t) return std::nullopt;
    return layers_of(*t) + t->mtp_layers + (t->kind == TransformerKind::encoder_decoder ? 3 : 2);
}

void check_stages(Check& c) {
    const std::int64_t stages = std::int64_t{c.plan.pp} * c.plan.vpp;
    const std::optional<std::int64_t> known = blocks(c.scenario.workload);
    const bool written = std::holds_alternative<GraphSpec>(c.scenario.workload.spec);
    if (known && stages > *known)
        c.complain("/plan/pp", "more stages than blocks: pp x vpp is " + text(stages) + ", the network has " + text(*known) + " blocks",
                   written ? "those of its \"sequence\"" : "the layers, an input and a head");
    if (c.plan.stage_blocks.empty()) return;
    if (static_cast<std::int64_t>(c.plan.stage_blocks.size()) != stages)
        c.complain("/plan/stage_blocks", "one number for each of the " + text(stages) + " stages (pp x vpp), not " +
                                             text(static_cast<std::int64_t>(c.plan.stage_blocks.size())));
    std::int64_t sum = 0;
    for (const int n : c.plan.stage_blocks) sum += n;
    if (known && sum != *known)
        c.complain("/plan/stage_blocks", "the stages hold " + text(sum) + " blocks, the network has " + text(*known),
                   "the layers, an input and a head");
}

void check_tensor(Check& c) {
    if (c.plan.sequence_parallel && c.plan.tp == 1)
        c.complain("/plan/sequence_parallel", "sequence parallelism cuts over the tensor group, but tp is 1", "tp of 2 or more");
    if (c.transformer) return;
    const std::string other = c.scenario.workload.name + " is no transformer";
    if (c.plan.sequence_parallel) c.complain("/plan/sequence_parallel", "sequence parallelism needs a sequence", other);
    if (c.plan.cp > 1) c.complain("/plan/cp", "context parallelism needs a sequence", other);
}

void check_experts(Check& c) {
    const bool moe = c.transformer && c.transformer->moe;
    if (c.plan.ep > 1 && !moe) c.complain("/plan/ep", "expert parallelism needs experts", c.scenario.workload.name + " has none");
    if (c.plan.expert_tp > 0 && !moe) c.complain("/plan/expert_tp", "this needs experts", c.scenario.workload.name + " has none");
    if (moe && c.transformer->moe->experts % c.plan.ep != 0)
        c.complain("/plan/ep", "ep must divide the experts: " + does_not_divide(c.plan.ep, c.transformer->moe->experts));
    if (c.plan.expert_tp > 0 && c.plan.tp % c.plan.expert_tp != 0)
        c.complain("/plan/expert_tp", "expert_tp must divide tp: " + does_not_divide(c.plan.expert_tp, c.plan.tp));
    // Experts are spread over the data and context ranks, and over the tensor ranks that an expert does not use itself.
    const std::int64_t ranks = c.data_ranks() * c.plan.tp, group = std::int64_t{c.plan.ep} * c.plan.expert_tensor();
    if (ranks % group != 0 && (c.plan.expert_tp == 0 || c.plan.tp % c.plan.expert_tp == 0))
        c.complain(c.plan.expert_tp > 0 ? "/plan/expert_tp" : "/plan/ep",
                   "ep x expert_tp must divide dp x cp x tp: " + does_not_divide(group, ranks),
                   c.plan.expert_tp > 0 ? "" : "expert_tp is tp (" + std::to_string(c.plan.tp) + ") unless stated");
}

void check_data_parallel(Check& c) {
    if (c.plan.shard_group && !c.plan.has_shards())
        c.complain("/plan/shard_group", "nothing is sharded", "data_parallel: zero1, zero2, zero3 or fsdp");
    else if (c.plan.shard_group && c.data_ranks() % *c.plan.shard_group != 0)
        c.complain("/plan/shard_group", "shard_group must divide dp x cp: " + does_not_divide(*c.plan.shard_group, c.data_ranks()));
    if (c.plan.offloads_parameters() && !c.plan.shards_parameters())
        c.complain("/plan/offload", "parameters in host memory come to the device block by block, as shards do, and this plan shards none",
                   "data_parallel: zero3 or fsdp, also of a single rank; \"optimizer\" leaves the parameters on the device");
    if (c.plan.has_servers() && (c.plan.pp > 1 || c.plan.tp > 1 || c.plan.cp > 1 || c.plan.ep > 1))
        c.complain("/plan/data_parallel", "workers of a parameter server hold the whole model", "tp, pp, cp and ep of 1");
}

void check_placement(Check& c) {
    const std::set<PlanDimension> listed(c.plan.placement.begin(), c.plan.placement.end());
    if (listed.size() != c.plan.placement.size()) c.complain("/plan/placement", "a dimension is listed twice");
    const auto miss = [&](PlanDimension dimension, int degree, const std::string& name) {
        if (degree > 1 && !listed.contains(dimension))
            c.complain("/plan/placement", "\"" + name + "\" is missing, and its degree is " + text(degree));
    };
    miss(PlanDimension::tensor, c.plan.tp, "tensor");
    miss(PlanDimension::context, c.plan.cp, "context");
    miss(PlanDimension::data, c.plan.dp, "data");
    miss(PlanDimension::pipeline, c.plan.pp, "pipeline");
}

void check_optimizer(Check& c) {
    const Plan& p = c.plan;
    if (p.forward_only || p.without_optimizer) return;
    const bool adafactor = p.optimizer == Optimizer::adafactor, muon = p.optimizer == Optimizer::muon;
    if ((adafactor || muon) && std::holds_alternative<ConvolutionalSpec>(c.scenario.workload.spec))
        c.complain("/plan/optimizer",
                   adafactor ? "Adafactor saves nothing on convolutions: it takes rows and columns of the last two dimensions of their "
                               "kernels, which are 3 x 3 and smaller"
                             : "Muon is modeled on matrices, not on the kernels of convolutions",
                   "\"momentum\"");
    if (!muon) return;
    if (p.shards_gradients() || p.has_servers())
        c.complain("/plan/optimizer", "Muon multiplies whole matrices, of which ranks have parts in this plan", "data_parallel: zero1");
    if (p.offload != Offload::none)
        c.complain("/plan/offload", "Muon multiplies matrices, which is for devices, and its states are where it does", "\"none\"");
}

void check_rest(Check& c) {
    if (!c.plan.forward_only && (is_quantized(c.plan.precision.compute) || is_quantized(c.plan.precision.parameter)))
        c.complain("/plan/precision", "integers do not train", "\"forward_only\": true");
    if (c.plan.recompute == Recompute::blocks && c.transformer && c.plan.recompute_blocks > layers_of(*c.transformer))
        c.complain("/plan/recompute/blocks", "the network has " + text(layers_of(*c.transformer)) + " layers");
    if (c.plan.forward_only && weights_apart(c.plan.schedule) != WeightsApart::in_none)
        c.complain("/plan/schedule", "this schedule arranges backward work, and there is none", "\"schedule\": \"gpipe\"");
}

}  // namespace

std::vector<Diagnostic> check_plan(const Scenario& scenario) {
    Check c{.scenario = scenario, .problems = {}};
    if (!check_ranges(c)) return c.problems;
    for (const auto check : {check_machine, check_batch, check_schedule, check_stages, check_tensor, check_experts, check_data_parallel,
                             check_placement, check_optimizer, check_rest})
        check(c);
    if (c.problems.empty()) c.problems = check_job_storage(scenario);  // which asks how many nodes the plan fills
    return c.problems;
}

}  // namespace sextant
