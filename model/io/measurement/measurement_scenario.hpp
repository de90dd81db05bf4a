// From a published row to the scenario that predicts it: everything of the row but `measured`.
//
// What the source left out is filled by rules that hold for every row (see measurements/FORMAT.md), never by a row's name, and
// each default taken is written into Scenario::assumptions. Problems of a row are thrown together as one InputError.
#pragma once

#include "model/hardware/topology.hpp"
#include "model/hardware/usual_hardware.hpp"
#include "model/io/measurement/measurement_reader.hpp"
#include "model/plan/scenario.hpp"

#include <functional>
#include <string_view>

namespace sextant {

// Where names are looked up. Each answers nothing for a name that it does not know, and throws what is wrong with a file that it stands
// for.
struct MeasurementSources {
    std::function<std::optional<Cluster>(std::string_view)> cluster;
    std::function<std::optional<Device>(std::string_view)> device;
    std::function<std::optional<LinkType>(std::string_view)> link;
    std::function<std::optional<Framework>(std::string_view)> framework;
    std::function<std::optional<CommunicationLibrary>(std::string_view)> library;
    std::function<std::optional<Workload>(std::string_view)> workload;
    UsualHardware usual;  // of machines of which a row says little
};

Scenario to_scenario(const TrainingRow&, const MeasurementSources&);
// Of one step: as it was published, or from the throughput of the scenario's batch.
std::optional<Seconds> measured_step(const TrainingRow&, const Scenario&);

// Whether the problem is the row's own, which then has no prediction, or that of a file on which many rows depend.
bool is_of_row(const InputError&, const RowHeader&);

// One call of a collective: the machine, who takes part, and through which library.
struct CollectiveScenario {
    Cluster cluster;
    std::vector<DeviceIndex> members;  // the first ranks / nodes devices of every node
    std::string collective;            // "all_reduce", "all_to_all" ...
    Bytes size;
    CommunicationLibrary library;
    int devices_of_process = 1;  // that one process drives
};
CollectiveScenario to_scenario(const CollectiveRow&, const MeasurementSources&);
// Of one call: as it was published, or from its bus bandwidth.
std::optional<Seconds> measured_time(const CollectiveRow&);

// The steps that to_scenario is made of; each collects problems and states assumptions.
class RowReport {
public:
    explicit RowReport(const RowHeader& header) : header_(&header) {}
    void assume(std::string what) { assumptions_.push_back(std::move(what)); }
    // `at` is a pointer inside the row: "/hardware/gpu".
    void complain(std::string_view at, std::string what, std::string hint = {}) {
        diagnostics_.add({header_->file, header_->pointer + std::string(at), std::move(what), std::move(hint)});
    }
    [[nodiscard]] const Diagnostics& diagnostics() const { return diagnostics_; }
    [[nodiscard]] std::vector<std::string>& assumptions() { return assumptions_; }

private:
    const RowHeader* header_;
    Diagnostics diagnostics_;
    std::vector<std::string> assumptions_;
};

Cluster cluster_of(const MeasuredHardware&, const MeasurementSources&, RowReport&);
// A link type of the catalogue; complains at this place of the row where it is not there.
LinkType look_up(std::string_view name, const MeasurementSources&, RowReport&, std::string_view at);
Workload workload_of(const TrainingRow&, const MeasurementSources&, RowReport&);
Plan plan_of(const TrainingRow&, const Cluster&, const Workload&, RowReport&);

// The name of the framework description that fits the row best: a table, see measurement_framework.cpp.
std::string framework_name(const TrainingRow&, RowReport&);
// What a row says of its own run, where others of the framework do otherwise.
void set_habits_of_one_run(const MeasuredPlan&, Framework&);

// The profile of the library that these words name, as in "NCCL 2.18.3", for calls between such devices; NCCL where they say nothing.
std::string_view library_of(std::string_view words, const Device&);

}  // namespace sextant
