// A small catalogue for tests of measurements: enough facts to see what a row turns into.
#pragma once

#include "model/base/spelling.hpp"
#include "model/io/measurement/measurement_scenario.hpp"
#include "model/io/profile/profile_reader.hpp"

#include <gtest/gtest.h>

namespace sextant {

inline std::string architecture_of(std::string_view gpu) {
    constexpr std::pair<std::string_view, std::string_view> words[] = {
        {"K80", "kepler"},     {"TITAN X", "pascal"},  {"GTX 1080", "pascal"},  {"P100", "pascal"},     {"V100", "volta"},
        {"TITAN V", "volta"},  {"RTX 2080", "turing"}, {"TITAN RTX", "turing"}, {"RTX 8000", "turing"}, {"4090", "ada"},
        {"Ada", "ada"},        {"L40", "ada"},         {"H100", "hopper"},      {"H200", "hopper"},     {"GH200", "hopper"},
        {"B200", "blackwell"}, {"B300", "blackwell"},  {"GB300", "blackwell"},  {"5060", "blackwell"},  {"RTX PRO 6000", "blackwell"},
        {"MI250X", "cdna2"},   {"MI300X", "cdna3"},    {"MI355X", "cdna4"},     {"Gaudi", "gaudi"}};
    for (const auto& [word, architecture] : words)
        if (mentions(gpu, word)) return std::string(architecture);
    return "ampere";
}

inline MeasurementSources test_sources() {
    using namespace units;
    MeasurementSources sources;
    sources.device = [](std::string_view name) -> std::optional<Device> {
        if (name == "Abacus") return std::nullopt;
        Device device;
        device.name = name == "H100" ? "H100 SXM5 80GB" : name;
        device.architecture = architecture_of(name);
        device.host_link = mentions(name, "GH200") || mentions(name, "GB200") ? "NVLink-C2C" : "PCIe gen4 x16";
        return device;
    };
    sources.link = [](std::string_view name) -> std::optional<LinkType> {
        LinkType link;
        link.name = name;
        const bool a100_port = name == "NVLink3 A100 per GPU";
        link.bandwidth.value = (a100_port ? 300 : name == "NVLink1" ? 20 : 25) * GB / s;
        return link;
    };
    sources.framework = [](std::string_view name) -> std::optional<Framework> {
        Framework framework;
        framework.name = name;
        return framework;
    };
    sources.library = [](std::string_view name) -> std::optional<CommunicationLibrary> {
        CommunicationLibrary library;
        library.name = name;
        return library;
    };
    sources.workload = [](std::string_view name) -> std::optional<Workload> {
        if (mentions(name, "nemotron") || mentions(name, "deepseek") || name.empty()) return std::nullopt;
        return Workload{std::string(name), std::string(name), ConvolutionalSpec{.name = std::string(name)}, {}};
    };
    Diagnostics problems;
    sources.usual = load_usual_hardware(open_catalog(SEXTANT_SOURCE_DIR "/hardware_profiles"), problems);
    problems.throw_if_any();
    return sources;
}

// Reads a file of one row; the row must be sound.
inline MeasurementFile read_one(std::string_view row) {
    Diagnostics diagnostics;
    MeasurementFile file = read_measurements("{\"rows\": [" + std::string(row) + "]}", "rows.json", diagnostics);
    for (const Diagnostic& d : diagnostics.list()) ADD_FAILURE() << to_text(d);
    EXPECT_EQ(file.rows.size(), 1U);
    if (const auto* unread = std::get_if<UnreadRow>(&file.rows.front()))
        for (const Diagnostic& d : unread->problems) ADD_FAILURE() << to_text(d);
    return file;
}

inline Scenario scenario_of(std::string_view row) { return to_scenario(std::get<TrainingRow>(read_one(row).rows.at(0)), test_sources()); }

inline bool assumes(const Scenario& s, std::string_view words) {
    for (const std::string& a : s.assumptions)
        if (mentions(a, words)) return true;
    return false;
}

inline constexpr std::string_view megatron = R"json({
  "id": "megatron", "kind": "training", "complete": true,
  "model": {"family": "GPT", "layers": 105, "hidden": 20480, "heads": 128, "vocab": 51200, "seq_len": 2048, "mlp": "gelu-2mat", "tied_embeddings": true},
  "hardware": {"gpu": "A100 SXM4 80GB", "gpus": 2240, "gpus_per_node": 8, "nodes": 280, "gpus_used_per_node": 8,
    "intra_node": {"kind": "nvswitch"}, "inter_node": {"fabric": "infiniband", "nics_per_node": 8, "nic_gbit_per_s": 200}},
  "plan": {"dp": 8, "tp": 8, "pp": 35, "vpp": 3, "cp": 1, "zero_stage": 0, "sequence_parallel": true, "micro_batch": 1, "global_batch": 2240,
    "recompute": "selective", "precision": "fp16", "schedule": "interleaved 1f1b", "flash_attention": false,
    "framework": "Megatron-LM (2022)",
                           "precision_kind" : "fp16", "framework_family" : "megatron-lm"
}
, "measured" : { "step_time_s" : 37.8 }
})json";

inline constexpr std::string_view fsdp = R"json({
  "id": "fsdp", "kind": "training",
  "model": {"family": "Llama-3", "layers": 32, "hidden": 4096, "ffn_hidden": 14336, "heads": 32, "kv_heads": 8, "vocab": 128256, "seq_len": 4096, "mlp": "swiglu"},
  "hardware": {"gpu": "H100 SXM5 80GB", "gpus": 64, "gpus_per_node": 8, "nodes": 8, "intra_node": {"kind": "nvswitch"},
    "inter_node": {"fabric": "roce", "nics_per_node": 8, "nic_gbit_per_s": 100}},
  "plan": {"dp": 64, "fsdp": "FSDP2, group 8", "zero_stage": 3, "micro_batch": 2, "global_batch": 512, "recompute": "full", "flash_attention": true,
    "precision": "bf16", "precision_kind": "bf16", "framework": "NeMo AutoModel (PyTorch FSDP2)",
                           "framework_family" : "megatron-core"
}
, "measured" : { "step_time_s" : 1 }
})json";

inline std::string vision_row(std::string_view hardware, std::string_view plan) {
    return R"json({"id": "v", "kind": "training", "model": {"name": "resnet50", "family": "cnn", "image_px": 224}, "hardware": {)json" +
           std::string(hardware) + R"json(}, "plan": {"micro_batch": 32, "precision_kind": "fp32", "precision": "fp32", )json" +
           std::string(plan) + R"json(}, "measured": {"step_time_s": 0.1}, "data": {"input": "synthetic"}})json";
}

}  // namespace sextant
