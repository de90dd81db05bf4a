#include "backend/exec/supports.hpp"

#include "backend/exec/executable_graph.hpp"
#include "backend/exec/written_graph.hpp"
#include "model/plan/framework_defaults.hpp"
#include "model/plan/offload.hpp"
#include "model/plan/partition.hpp"
#include "model/plan/rank_layout.hpp"

#include <algorithm>
#include <span>

namespace sextant {
namespace {

class Checker {
public:
    Checker(const Scenario& s, const Abilities& engine) : s_(s), plan_(s.plan), engine_(engine) {}

    std::vector<Diagnostic> check() {
        check_groups();
        check_context();
        check_experts();
        check_precision();
        check_offload();
        check_optimizer();
        check_memory();
        check_framework();
        check_network();
        refuse_if(plan_.cuda_graph && !engine_.captures, "/plan/cuda_graph", "cores launch no kernels that graphs could be made of",
                  "--backend cuda, or \"cuda_graph\": false");
        return std::move(problems_);
    }

private:
    void refuse_if(bool refused, const char* pointer, const char* what, const char* hint = "") {
        if (refused) problems_.push_back({s_.file, pointer, what, hint});
    }

    void check_groups() {
        const auto* transformer = s_.workload.transformer();
        refuse_if(transformer != nullptr && transformer->adapters && plan_.has_servers(), "/plan/data_parallel",
                  "parameter servers hold every weight, and adapters leave most of them frozen", "\"data_parallel\": \"all_reduce\"");
    }
    // What of a mixture its operators do not show is here, the rest in unsupported() of a graph.
    void check_experts() {
        const auto* network = s_.workload.transformer();
        if (network == nullptr || !network->moe) return;
        refuse_if(plan_.has_servers(), "/plan/data_parallel", "parameter servers do not hold experts", "\"data_parallel\": \"all_reduce\"");
        refuse_if(plan_.ep > 1 && overlaps_experts(plan_, s_.framework, s_.workload), "/plan/expert_overlap",
                  "all-to-alls do not go on behind the kernels of another micro-batch", "\"expert_overlap\": false");
        refuse_if(plan_.ep > 1 && deduplicates_tokens(plan_, s_.framework), "/plan/token_deduplication",
                  "a token travels once to each of its experts", "\"token_deduplication\": false");
        const RankLayout layout = layout_of(s_);
        refuse_if(layout.size_of(ParallelGroup::data) == 1 && layout.size_of(ParallelGroup::expert_data) > 1, "/plan/ep",
                  "gradients of experts that the ranks of a tensor group alone have copies of are not summed",
                  "ep = tp / expert_tp: each expert on one of them");
    }
    // Every rank must have an equal part of the positions of a sequence, and of those that a loss is of. The plan has a transformer.
    void check_context() {
        if (plan_.cp == 1) return;
        const auto& network = std::get<TransformerSpec>(s_.workload.spec);
        constexpr auto at = "/plan/cp", instead = "tp with sequence_parallel cuts the sequence outside attention";
        refuse_if(network.kind == TransformerKind::encoder_decoder, at,
                  "the sequences of an encoder and of its decoder are not cut together", instead);
        const bool by_token = network.head != HeadKind::question_answering && network.head != HeadKind::classifier;
        const bool pools = network.pooler && network.head != HeadKind::token_classifier;
        refuse_if(!by_token || pools, at, "a head that reads the first token of a sequence, or all of them, has it on one rank only",
                  instead);
        refuse_if(network.predicted_tokens % plan_.cp != 0, at, "cp must divide the positions that are predicted (predicted_tokens)");
    }
    void check_precision() {
        constexpr auto at = "/plan/precision";
        const Precision p = kept_precision(plan_, s_.framework);
        const bool single = p.compute == DataType::fp32, half = p.compute == DataType::bf16 || p.compute == DataType::fp16;
        if (!single && !half) return refuse_if(true, at, "products run in fp32, bf16 and fp16", "\"precision\": \"bf16\"");
        refuse_if(p.activation != p.compute || p.parameter != p.compute, at,
                  "activations and weights are kept in what they are multiplied in: nothing is cast for each use",
                  plan_.autocast ? "\"autocast\": false" : "\"framework\": \"sextant\" is what runs here");
        refuse_if(p.gradient_type() != DataType::fp32 || p.reduction_type() != DataType::fp32, at,
                  "gradients of weights are kept and reduced in fp32", "\"gradient\": \"fp32\"");
        refuse_if(p.optimizer_state != DataType::fp32, at, "the states of the optimizer are fp32");
        if (single) return;
        refuse_if(!p.master_weights && p.parameter == p.compute && !plan_.forward_only, at,
                  "weights of 16 bits are rounded from masters in fp32", "\"master_weights\": true");
        refuse_if(plan_.has_servers(), at, "parameter servers hold and send fp32", "\"precision\": \"fp32\"");
    }
    void check_offload() {
        constexpr auto at = "/plan/offload";
        const bool activations = plan_.offload_activations != OffloadActivations::none;
        if (!engine_.offloads) {
            constexpr auto one_memory = "a rank on cores has no memory but its host's, so there is nothing to gain";
            refuse_if(plan_.offload != Offload::none, at, one_memory, "--backend cuda, or \"offload\": \"none\"");
            return refuse_if(activations, "/plan/offload_activations", one_memory, "\"offload_activations\": false");
        }
        const bool parameters = plan_.offloads_parameters();
        refuse_if(parameters && !updates_on_host(plan_), at, "weights come from the host where that updates them", "\"offload\": \"none\"");
        refuse_if(parameters && overlaps_gathers(plan_, s_.framework), "/plan/gather_overlap",
                  "weights come from the host while nothing else goes on", "\"gather_overlap\": false");
        refuse_if(offloads_gradients(plan_, s_.framework), "/framework", "gradients go to the host with the update, not before",
                  "\"offloaded_gradients\": \"with_update\", as \"framework\": \"sextant-cuda\" has it");
        refuse_if(activations, "/plan/offload_activations", "activations stay on the device",
                  "\"offload_activations\": false; \"recompute\": \"full\" saves memory too");
    }
    void check_optimizer() {
        if (plan_.forward_only || plan_.without_optimizer) return;
        constexpr auto at = "/plan/optimizer", instead = "\"optimizer\": \"adamw\"";
        refuse_if(plan_.has_servers() && plan_.optimizer == Optimizer::lamb, at,
                  "LAMB needs the norms of whole tensors, of which parameter servers have parts", instead);
        refuse_if(plan_.optimizer == Optimizer::adafactor, at,
                  "Adafactor needs the means of a matrix's rows and columns, and ranks update runs of elements", instead);
        refuse_if(plan_.optimizer == Optimizer::muon, at, "Muon multiplies whole matrices, and ranks update runs of elements", instead);
        refuse_if(plan_.optimizer == Optimizer::adamw_8bit, at, "the states of the optimizer are fp32", instead);
    }
    void check_memory() {
        refuse_if(plan_.head_chunks > 1, "/plan/head_chunks", "the head runs over all tokens at once");
        refuse_if(plan_.pruned_fraction > 0, "/plan/pruned_fraction", "pruned weights do not run");
        refuse_if(plan_.frozen_batch_norm, "/plan/frozen_batch_norm", "batch norms measure what they normalize");
    }
    void check_framework() {
        constexpr auto own = "\"framework\": \"sextant\" is what runs here";
        refuse_if(s_.framework.clips_gradients && plan_.has_servers(), "/framework", "parameter servers do not clip gradients", own);
        refuse_if(s_.framework.reduction_cycle.has_value() && plan_.dp * plan_.cp > 1, "/framework",
                  "reductions are started by buckets, not by a cycle in time", own);
        refuse_if(plan_.tp > 1 && overlaps_tensor(plan_, s_.framework), "/plan/tensor_overlap",
                  "tensor-parallel exchanges do not overlap with the products beside them",
                  plan_.tensor_overlap ? "\"tensor_overlap\": false" : own);
    }
    void check_network() {
        const auto* network = s_.workload.transformer();
        refuse_if(network != nullptr && network->qk_norm_whole && plan_.tp > 1, "/plan/tp",
                  "norms of all queries and of all keys do not run cut: the ranks do not exchange their sums of squares",
                  "\"qk_norm_whole\": false normalizes each head by itself");
        const Network mine = cut_network(s_);
        if (const auto* graph = std::get_if<GraphSpec>(&s_.workload.spec)) check_written(*graph, mine);
        bool joins = false;
        for (const Block& t : mine.templates) {
            for (Diagnostic problem : unsupported(t.graph)) {
                problem.file = s_.file;
                if (std::ranges::find(problems_, problem) == problems_.end()) problems_.push_back(std::move(problem));
            }
            for (const Operator& op : t.graph.operators()) joins = joins || (is_concatenation(op) && !s_.workload.is_transformer());
        }
        refuse_if(plan_.pp > 1 && scatters_boundaries(plan_, s_.framework) && !boundaries_divide(mine), "/plan/tp",
                  "what a stage hands on is cut over the tensor group, but not into equal parts",
                  "\"scatters_pipeline\": false in the framework");
        refuse_if(joins && plan_.tp > 1, "/plan/tp",
                  "images that are put together do not run cut: each rank would have their channels in an order of its own");
    }

    void check_written(const GraphSpec& graph, const Network& mine) {
        const auto refuse = [this](const std::string& why) {
            problems_.push_back({s_.file, "/workload", "this network is predicted only: " + why, {}});
        };
        if (!graph.only_predicted.empty()) return refuse(graph.only_predicted);
        std::ranges::for_each(what_does_not_run(mine, plan_.micro_batch, !plan_.forward_only), refuse);
    }

    [[nodiscard]] bool boundaries_divide(const Network& mine) const {
        return std::ranges::all_of(std::span(mine.sequence).subspan(1), [&](int t) {
            const OperatorGraph& graph = mine.templates[static_cast<std::size_t>(t)].graph;
            return std::ranges::all_of(graph.inputs(), [&](TensorId id) {
                const Tensor& tensor = graph.tensor(id);
                return tensor.role == TensorRole::index || static_cast<std::int64_t>(tensor.elements()) % plan_.tp == 0;
            });
        });
    }

    const Scenario& s_;
    const Plan& plan_;
    const Abilities& engine_;
    std::vector<Diagnostic> problems_;
};

}  // namespace

std::vector<Diagnostic> unsupported(const Scenario& scenario, const Abilities& engine) { return Checker(scenario, engine).check(); }

}  // namespace sextant
