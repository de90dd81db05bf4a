#include "fuzz/targets.hpp"
#include "model/io/measurement/measurement_evaluation.hpp"

namespace sextant::fuzz {

// A file of measurements, and what each of its rows becomes where every name is known.
void measurement(std::string_view input) {
    MeasurementSources sources;
    sources.device = [](std::string_view name) {
        Device device;
        device.name = name;
        device.host_link = "PCIe gen4 x16";
        device.peaks.emplace_back();  // no device is without one
        return device;
    };
    sources.link = [](std::string_view) { return LinkType{}; };
    sources.framework = [](std::string_view) { return Framework{}; };
    sources.library = [](std::string_view) { return CommunicationLibrary{}; };
    sources.workload = find_workload;
    sources.usual.nvlinks.emplace_back();
    sources.usual.hosts.emplace_back().nic = 100 * units::Gbit / units::s;
    sources.usual.networks.push_back({"infiniband", 100 * units::Gbit / units::s, ""});
    const Predictors predictors{[](const Scenario&) { return RowPrediction{}; }, [](const CollectiveScenario&) { return Seconds{}; },
                                [](const LoadingRow&) { return Seconds{}; }};
    Diagnostics diagnostics;
    for (const MeasurementRow& row : read_measurements(input, "input.json", diagnostics).rows) evaluate(row, sources, predictors);
}

}  // namespace sextant::fuzz
