#include "tests/io/scenario_fixture.hpp"

namespace sextant::fixtures {
namespace {

using namespace units;

std::optional<Workload> find(std::string_view name) {
    TransformerSpec spec;
    if (name == "bert") {
        spec.kind = TransformerKind::encoder;
        spec.seq_len = spec.max_positions = 512;
    } else if (name == "mixture") {
        spec.moe.emplace().ffn_hidden = 3072;
    } else if (name == "resnet50") {
        return Workload{"resnet50", "ResNet-50", ConvolutionalSpec{}, "test"};
    } else if (name != "gpt") {
        return std::nullopt;
    }
    return Workload{std::string(name), std::string(name), spec, "test"};
}

template <class T>
T unknown(const JsonNode& node, std::vector<std::string_view> known) {
    std::string name;
    if (node.is_string() && read_value(node, name)) complain_about_word(node, name, known);
    return T{};
}

Cluster cluster(const JsonNode& node) {
    Cluster box;
    box.name = "box";
    box.nodes = 4;
    box.node.devices = 8;
    box.node.nics = 8;
    box.node.nic_link = {"IB", LinkCategory::infiniband, {25 * GB / s, SourceKind::datasheet, "test"}, {}, {}, true, {}, {}};
    box.node.device.name = "chip";
    box.node.device.memory = {80 * GiB, SourceKind::datasheet, "test"};
    box.node.device.peaks.push_back(
        {DataType::bf16, DataType::fp32, ComputeUnit::tensor, {100 * TFLOP / s, SourceKind::datasheet, "test"}, {}});
    std::string name;
    if (node.is_string()) read_value(node, name);
    if (name == "box") return box;
    if (name != "single") return unknown<Cluster>(node, {"box", "single"});
    box.name = "single";
    box.nodes = 1;
    box.node.devices = 4;
    box.node.nics = 0;
    return box;
}

Framework framework(const JsonNode& node) {
    std::string name;
    if (node.is_string()) read_value(node, name);
    if (name != "plain") return unknown<Framework>(node, {"plain"});
    Framework f;
    f.name = name;
    f.library = "fast";
    f.socket_library = "sockets";
    return f;
}

CommunicationLibrary library(std::string_view name, const JsonNode& node) {
    if (name != "fast" && name != "sockets") complain_about_word(node, std::string(name), {"fast", "sockets"});
    CommunicationLibrary l;
    l.name = name;
    return l;
}

}  // namespace

ScenarioSources test_sources() {
    ScenarioSources sources;
    sources.workload = find;
    sources.cluster = cluster;
    sources.device = [](const JsonNode& n) { return unknown<Device>(n, {"chip"}); };
    sources.link = [](const JsonNode& n) { return unknown<LinkType>(n, {"IB"}); };
    sources.storage = [](const JsonNode& n) { return unknown<StorageClass>(n, {"nfs"}); };
    sources.framework = framework;
    sources.library = library;
    return sources;
}

ReadScenario read_text(std::string_view text, const std::vector<std::string>& assignments) {
    Diagnostics diagnostics;
    JsonFile file = JsonFile::from_text(text, "test.json", diagnostics);
    for (const std::string& assignment : assignments) file.set(assignment);
    Scenario scenario = read_scenario(file, test_sources(), diagnostics);
    return {std::move(scenario), diagnostics.list()};
}

std::string all_of(const std::vector<Diagnostic>& problems) {
    std::string text;
    for (const Diagnostic& d : problems) text += to_text(d) + "\n";
    return text;
}

}  // namespace sextant::fixtures
