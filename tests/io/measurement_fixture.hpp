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
        {"B200", "blackwell"}, {"B300", "blackwell"},  {"GB300", "blackwell"},  {"5060", "blackwell"},  {"RTX PRO 6000", "blackwell"}};
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
        device.name = name;
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

}  // namespace sextant
