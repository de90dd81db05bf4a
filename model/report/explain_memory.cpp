// What the memory of the fullest rank consists of.
#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "model/cost/kernel_rules.hpp"
#include "model/plan/partition.hpp"
#include "model/plan/recompute.hpp"
#include "model/predict/block_memory.hpp"
#include "model/predict/gradient_memory.hpp"
#include "model/predict/memory_in_flight.hpp"
#include "model/predict/stage_memory.hpp"
#include "model/predict/state.hpp"
#include "model/report/report.hpp"

#include <algorithm>

namespace sextant {
namespace {

std::string bytes_each(Bytes size) { return number_text(size / units::B, 3) + " bytes"; }

class MemoryExplainer {
public:
    explicit MemoryExplainer(const Prepared& prepared)
        : job_(prepared.state()),
          memory_(stage_memory(job_)),
          stage_(static_cast<std::size_t>(std::ranges::max_element(memory_, {}, &StageMemory::total) - memory_.begin())) {}

    std::vector<std::string> explain() {
        const StageMemory& m = memory_[stage_];
        say("memory of the fullest rank" + (job_.stages.size() > 1 ? ", of stage " + std::to_string(stage_) : "") + ": " +
            to_text(m.total()) + " of " + to_text(device_memory(job_)));
        states(m);
        if (!job_.scenario.plan.forward_only) activations(m);
        rest(m);
        return std::move(lines_);
    }

private:
    void say(std::string line) { lines_.push_back(std::move(line)); }
    void say(MemoryKind kind, const std::string& why) {
        const Bytes size = memory_[stage_][kind];
        if (size > Bytes{}) say("  " + std::string(to_text(kind)) + " " + to_text(size) + ": " + why);
    }
    static std::string parameters(double held) { return number_text(held / 1e6, 4) + " million parameters"; }

    void states(const StageMemory& m) {
        const Plan& plan = job_.scenario.plan;
        const StageParameters p = parameters_of(job_, stage_);
        const double weights = held_parameters(p.trained + p.frozen, plan, plan.shards_parameters());
        say("  here " + parameters((p.trained + p.frozen).total()) +
            (p.frozen.total() > 0 ? ", of which " + number_text(p.trained.total() / 1e6, 4) + " million are trained" : "") +
            (plan.has_shards() ? "; of what is in shards 1/" + std::to_string(plan.shard_ranks()) : "") +
            (plan.has_shards() && (p.trained + p.frozen).expert > 0 ? ", of experts 1/" + std::to_string(plan.expert_replicas()) : ""));
        say(MemoryKind::weights, parameters(weights) + " of " + bytes_each(m[MemoryKind::weights] / weights));
        const Bytes placeholders = plan.forward_only ? Bytes{} : gradient_placeholders(job_, stage_);
        const double gradients = held_parameters(p.trained, plan, plan.shards_gradients());
        say(MemoryKind::gradients, parameters(gradients) + " of " + std::string(to_text(job_.precision.gradient_type())) +
                                       ", and what is added up or copied before an exchange" +
                                       (placeholders > Bytes{} ? "; placeholders of gradients " + to_text(placeholders) : ""));
        const double owned = held_parameters(p.trained, plan, plan.has_shards());
        const OptimizerFacts& facts = facts_of(plan.optimizer);
        say(MemoryKind::optimizer,
            parameters(owned) + " of " + bytes_each(m[MemoryKind::optimizer] / owned) + ": " + counted(facts.states, "state") + " " +
                (facts.state ? "of " + bytes_each(*facts.state) : "in " + std::string(to_text(job_.precision.optimizer_state))) +
                (facts.spared_states > 0 ? ", " + std::to_string(facts.states - facts.spared_states) + " of matrices in layers" : "") +
                (job_.precision.master_weights ? ", and masters in fp32 unless the shards are those" : ""));
    }

    void activations(const StageMemory& m) {
        const StageBlocks& blocks = job_.stages[stage_];
        const Bytes micro_batch = waiting_activations(job_, stage_);
        const InFlightBytes in_flight = in_flight_bytes(job_, stage_);
        const Bytes working = m[MemoryKind::activations] - in_flight.waiting;
        std::string what = "what backward reads of a micro-batch, " + to_text(micro_batch);
        if (micro_batch > Bytes{})
            what += ", of " + number_text((in_flight.waiting - in_flight.halfway) / micro_batch, 3) + " that are under way";
        if (in_flight.halfway > Bytes{}) what += ", " + to_text(in_flight.halfway) + " that gradients of weights still read";
        if (working > Bytes{}) what += ", and " + to_text(working) + " that a block works on";
        say(MemoryKind::activations, what);
        const Network network = cut_network(job_.scenario);
        for (std::size_t t = 0; t < job_.templates.size(); ++t)
            if (blocks.count[t] > 0) block(t, blocks.count[t], network.templates[t]);
    }

    // The largest of what a block keeps.
    void block(std::size_t t, int count, const Block& made_of) {
        Plan plan = job_.scenario.plan;
        const double share = static_cast<double>(recomputed_blocks(job_.chunks[stage_], job_.stages[stage_], t)) / count;
        const bool whole = plan.recompute != Recompute::selective && share > 0;
        const BlockKernels& k = job_.templates[t];
        const Bytes keeps = share * waiting_activations(k, job_, true) + (1 - share) * waiting_activations(k, job_, false);
        const Bytes sent = share * offloaded_activations(k, job_, true) + (1 - share) * offloaded_activations(k, job_, false);
        std::string again;
        if (whole) again = ", of which " + percent_text(share) + " run again from what they read, " + to_text(k.kept_input);
        say("    block kind " + std::to_string(t + 1) + ", " + std::to_string(count) + " on this stage, keeps " + to_text(keeps) +
            (sent > Bytes{} ? ", and " + to_text(sent) + " in host memory" : "") + again);
        if (whole && share >= 1) return;
        plan.precision = job_.precision;
        const OperatorGraph& graph = made_of.graph;
        const DataType type = product_type(plan.precision, made_of.role);
        const std::vector<bool> dropped = dropped_tensors(graph, plan), narrow = find_kept_narrow(graph, type);
        std::vector<std::pair<Bytes, const Tensor*>> kept;
        Bytes inside = k.saved;
        for (const TensorId id : saved_for_backward(graph)) {
            const Tensor& tensor = graph.tensor(id);
            if (dropped[id.value] || tensor.role == TensorRole::logits) continue;
            kept.emplace_back(kept_size(tensor, narrow[id.value], plan.precision, type), &tensor);
            inside -= kept.back().first;
        }
        std::ranges::stable_sort(kept, std::ranges::greater(), &std::pair<Bytes, const Tensor*>::first);
        constexpr std::size_t most = 12;
        for (std::size_t i = 0; i < std::min(most, kept.size()); ++i)
            say("      " + kept[i].second->name + " " + shape_of(*kept[i].second) + " " + to_text(kept[i].first));
        if (kept.size() > most) say("      and " + std::to_string(kept.size() - most) + " smaller ones");
        if (job_.scenario.framework.composes_functions && inside > Bytes{})
            say("      inside of norms and gates, between the functions that they are made of: " + to_text(inside));
    }

    static std::string shape_of(const Tensor& t) {
        std::string text = "[";
        for (const std::int64_t n : t.shape) text += (text.size() > 1 ? " x " : "") + std::to_string(n);
        return text + "]";
    }

    void rest(const StageMemory& m) {
        const Framework& f = job_.scenario.framework;
        const Plan& plan = job_.scenario.plan;
        say(MemoryKind::logits, "of the head and its loss" +
                                    (f.fused_cross_entropy ? std::string() : std::string(", with a copy in fp32")) +
                                    (plan.head_chunks > 1 ? ", one of " + std::to_string(plan.head_chunks) + " parts" : ""));
        say(MemoryKind::gathered_weights, "of the block at work and " + std::to_string(f.prefetch_blocks) +
                                              " ahead, or of all whose backward waits where none is given back");
        say(MemoryKind::communication, f.communication_buffers.source);
        say(MemoryKind::context, f.context.source);
        say(MemoryKind::fragmentation, percent_text(f.fragmentation.value) + " of what comes and goes, " +
                                           to_text(m[MemoryKind::activations] + m[MemoryKind::logits] + m[MemoryKind::gathered_weights]) +
                                           ", less where that would not fit");
        if (job_.scenario.cluster.node.device.kind == DeviceKind::gpu)
            say("  an allocator like PyTorch's hands out " + to_text(m.allocated()) +
                " of it (torch.cuda.max_memory_allocated): all but communication, context and fragmentation");
    }

    const Prepared::State& job_;
    std::vector<StageMemory> memory_;
    std::size_t stage_;
    std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> explain_memory(const Prepared& prepared) { return MemoryExplainer(prepared).explain(); }

}  // namespace sextant
