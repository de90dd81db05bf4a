// Rows of training runs.
#include "model/base/ceil_divide.hpp"
#include "model/base/spelling.hpp"
#include "model/io/measurement/measurement_fields.hpp"
#include "model/io/profile/profile_fields.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

// One word or a list of words.
std::vector<std::string> read_words(RowFields& f, std::string_view key) {
    std::vector<std::string> words;
    const JsonNode n = f.get(key);
    if (n.is_string())
        read_value(n, words.emplace_back());
    else if (n.value)
        read_value(n, words);
    return words;
}

// A word of the source's, or true for the usual one and false for `none`.
void read_word(RowFields& f, std::string_view key, std::string& word, std::string_view usual, std::string_view none) {
    const JsonNode n = f.get(key);
    if (n.value && n.value->is_boolean())
        word = n.value->get<bool>() ? usual : none;
    else
        f.optional(key, word);
}

void read_model(RowFields& f, MeasuredModel& m) {
    f.optional("name", m.name);
    f.optional("family", m.family);
    f.optional("mlp", m.mlp);
    f.optional("positional", m.positional);
    f.optional("layers", m.layers, count);
    f.optional("hidden", m.hidden, count);
    f.optional("ffn_hidden", m.ffn_hidden, count);
    f.optional("heads", m.heads, count);
    f.optional("kv_heads", m.kv_heads, count);
    f.optional("head_dim", m.head_dim, count);
    f.optional("vocab", m.vocab, count);
    f.optional("seq_len", m.seq_len, count);
    f.optional("image_px", m.image_px, count);
    f.optional("experts", m.experts, count);
    f.optional("topk", m.topk, count);
    f.optional("moe_ffn_hidden", m.moe_ffn_hidden, count);
    f.optional("sliding_window", m.sliding_window, count);
    f.optional("sliding_window_every", m.sliding_window_every, count);
    f.optional("max_predictions", m.max_predictions, count);
    f.optional("shared_expert_ffn_hidden", m.shared_expert_ffn_hidden, large_counts);
    f.optional("dense_layers", m.dense_layers, large_counts);
    f.optional("mtp_layers", m.mtp_layers, large_counts);
    f.optional("tied_embeddings", m.tied_embeddings);
    f.optional("bias", m.bias);
    f.optional("qkv_bias", m.qkv_bias);
    f.optional("bidirectional", m.bidirectional);
    if (RowFields mla{f.get("mla")}) {
        MeasuredModel::LatentAttention& a = m.mla.emplace();
        mla.optional("q_lora_rank", a.q_lora_rank, large_counts);
        mla.optional("kv_lora_rank", a.kv_lora_rank, count);
        mla.optional("qk_head_dim", a.qk_head_dim, count);
        mla.optional("qk_rope_dim", a.qk_rope_dim, count);
        mla.optional("v_head_dim", a.v_head_dim, count);
    }
}

void read_degrees(RowFields& f, MeasuredPlan& p) {
    f.optional("dp", p.dp, rank_counts);
    f.optional("tp", p.tp, rank_counts);
    f.optional("pp", p.pp, rank_counts);
    f.optional("cp", p.cp, rank_counts);
    f.optional("zero_stage", p.zero_stage, Bounds{0, 3});
    f.optional("vpp", p.vpp, rank_counts);
    f.optional("ep", p.ep, rank_counts);
    f.optional("etp", p.etp, rank_counts);
    f.optional("zero1_shard_size", p.zero1_shard_size, rank_counts);
    f.optional("micro_batch", p.micro_batch, count);
    f.optional("global_batch", p.global_batch, count);
    f.optional("grad_accum", p.grad_accum, count);
}

void read_settings(RowFields& f, MeasuredPlan& p) {
    read_word(f, "fsdp", p.fsdp, "FULL_SHARD", "");
    read_word(f, "recompute", p.recompute, "full", "none");
    f.optional("recompute_detail", p.recompute_detail);
    f.optional("schedule", p.schedule);
    f.optional("variable_update", p.variable_update);
    f.optional("phase", p.phase);
    f.optional("optimizer", p.optimizer);
    f.optional("ddp", p.ddp);
    f.optional("trainable", p.trainable);
    f.optional("precision", p.precision);
    f.optional("precision_kind", p.precision_kind);
    f.optional("framework", p.framework);
    f.optional("framework_family", p.framework_family);
    f.optional("grad_reduce_dtype", p.grad_reduce_dtype);
    f.optional("grad_dtype", p.grad_dtype);
    f.optional("grad_allreduce", p.grad_allreduce);
    f.optional("fsdp_mixed_precision", p.fsdp_mixed_precision);
    f.optional("moe_dispatcher", p.moe_dispatcher);
    f.optional("recompute_modules", p.recompute_modules);
    p.offload = read_words(f, "offload");
    read_word(f, "cuda_graph", p.cuda_graph, "whole", "none");
}

void read_switches(RowFields& f, MeasuredPlan& p) {
    f.optional("sequence_parallel", p.sequence_parallel);
    f.optional("embedding_as_pipeline_layer", p.embedding_as_pipeline_layer);
    f.optional("fp8_params", p.fp8_params);
    f.optional("shard_weights", p.shard_weights);
    f.optional("shard_gradients", p.shard_gradients);
    f.optional("lmhead_chunks", p.lmhead_chunks);
    f.optional("activation_cpu_offload", p.activation_cpu_offload);
    f.optional("activation_cpu_offload_layers", p.activation_cpu_offload_layers, large_counts);
    f.optional("flash_attention", p.flash_attention);
    f.optional("grad_overlap", p.grad_overlap);
    f.optional("param_gather_overlap", p.param_gather_overlap);
    f.optional("tp_overlap", p.tp_overlap);
    f.optional("p2p_overlap", p.p2p_overlap);
    f.optional("moe_a2a_overlap", p.moe_a2a_overlap);
    f.optional("cross_entropy_fusion", p.cross_entropy_fusion);
    std::string memory_format;
    f.optional("memory_format", memory_format);
    if (!memory_format.empty()) p.channels_last = memory_format == "channels_last" || memory_format == "nhwc";
}

void read_plan(RowFields& f, MeasuredPlan& p) {
    read_degrees(f, p);
    read_settings(f, p);
    read_switches(f, p);
}

// Sources state the throughput of all devices, or of one.
void read_throughput(RowFields& measured, TrainingRow& row) {
    const auto read = [&](const std::string& key, std::optional<Frequency>& rate, int devices) {
        Frequency of_one;
        if (measured.optional(key, of_one, InSi{positive})) rate = devices * of_one;
    };
    for (const auto& [per, devices] : {std::pair("", 1), std::pair("_per_gpu", row.hardware.gpus)}) {
        for (const char* what : {"samples", "images", "sequences"})
            read(std::string(what) + "_per_s" + per, row.samples_per_second, devices);
        read(std::string("tokens_per_s") + per, row.tokens_per_second, devices);
    }
}

// For a source that counts only devices: nodes have as many as it says, else eight where one node has hardly room for all.
void count_nodes(MeasuredHardware& h) {
    constexpr int most_of_one = 16;  // DGX-2
    const int of_unknown = h.gpus > most_of_one ? 8 : h.gpus;
    const int each = h.gpus_used_per_node.value_or(h.gpus_per_node.value_or(of_unknown));
    h.nodes = ceil_divide(h.gpus, each);
    if (h.nodes > 1) h.assumed.emplace_back("nodes");
}

void read_counts(RowFields& f, MeasuredHardware& h) {
    f.optional("gpus_per_node", h.gpus_per_node, plausible::devices_of_node);
    f.optional("gpus_used_per_node", h.gpus_used_per_node, plausible::devices_of_node);
    f.optional("gpus", h.gpus, rank_counts);
    if (!f.optional("nodes", h.nodes, rank_counts)) count_nodes(h);
}

}  // namespace

void read_hardware(RowFields& f, MeasuredHardware& h) {
    f.optional("gpu", h.gpu);
    f.optional("system", h.system);
    f.optional("cpu", h.cpu);
    f.optional("assumed", h.assumed);
    read_counts(f, h);
    if (RowFields intra{f.get("intra_node")}) {
        intra.optional("kind", h.intra_node.kind);
        // As sources write it: "NVLink", "PCIe gen4".
        for (const char* kind : {"nvswitch", "nvlink", "pcie"})
            if (mentions(h.intra_node.kind, kind)) h.intra_node.kind = kind;
        intra.optional("as_stated", h.intra_node.as_stated);
        intra.optional("pair_only", h.intra_node.pair_only);
        intra.optional("peer_access", h.intra_node.peer_access);
        intra.optional("domain_gpus", h.intra_node.domain_gpus, rank_counts);
    }
    if (RowFields inter{f.get("inter_node")}) {
        MeasuredInterNode& n = h.inter_node.emplace();
        inter.optional("fabric", n.fabric);
        inter.optional("nics_per_node", n.nics_per_node, Bounds{1, 1024});
        inter.optional("nic_gbit_per_s", n.nic_gbit_per_s, Bounds{1e-3, 1e6});
    }
}

TrainingRow read_training(RowFields& f, RowHeader header) {
    TrainingRow row;
    row.header = std::move(header);
    f.optional("task", row.task);
    if (RowFields model{f.get("model")}) read_model(model, row.model);
    if (RowFields hardware{f.get("hardware")}) read_hardware(hardware, row.hardware);
    if (RowFields plan{f.get("plan")}) read_plan(plan, row.plan);
    if (RowFields data{f.get("data")}) data.optional("input", row.input);
    RowFields measured{f.get("measured")};
    measured.optional("step_time_s", row.step_time, InSi{positive});
    read_throughput(measured, row);
    measured.optional("memory_bytes", row.memory, InSi{positive});
    measured.optional("fits", row.fits);
    return row;
}

}  // namespace sextant
