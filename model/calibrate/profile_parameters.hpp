// What of a machine's profile a calibration may change, where it stands in a scenario, and how far it may go.
#pragma once

#include "model/calibrate/sourced_field.hpp"
#include "model/hardware/calibration_stamp.hpp"
#include "model/plan/scenario.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sextant {

enum class ParameterOwner { device, link, library, framework };
std::string_view to_text(ParameterOwner);

struct ProfileParameter : SourcedField<Scenario> {
    std::string name;  // "fp32 rate of large GEMMs", or its place in a profile: "/protocols/0/base"
    ParameterOwner owner = ParameterOwner::device;
    double least = 0, most = 0;  // SI, what such hardware can be
    double usual = 0;            // of such a parameter, where nothing is known of this one
    double spread = 0.3;         // relative, of what is known without measuring
    double begin = 0;            // where a fit begins; 0: at what is usual
    double other_begin = 0;      // where a second search begins; 0: there is none
    std::string title{};         // for people, where `name` is a place

    [[nodiscard]] const std::string& shown_name() const { return title.empty() ? name : title; }
    // What a fit made of it, for the profile's stamp; SI, spreads relative.
    [[nodiscard]] CalibratedNumber moved(double before, double spread_before, double after, double spread_after) const;
};

// Of a machine whose devices are such cores, and of what runs on it. Of the numbers that a profile need not have those that it has: without
// them a core is priced in another way.
std::vector<ProfileParameter> cpu_parameters(const NodeSpec&);

// Of a network between hosts of which nothing is known: what transfers reach, and how long a small one takes.
std::vector<ProfileParameter> network_parameters();

// Of this scenario's machine, whose devices are GPUs, of what runs on it, and of the framework that its probes run under.
std::vector<ProfileParameter> gpu_parameters(const Scenario&);

// What a cluster's own logs show of its links, and its own runs of its devices.
std::vector<ProfileParameter> cluster_parameters(const Cluster&);

// What calls of a communication library cost beyond the links. `name` is the place in its profile: "/messages/combine".
std::vector<ProfileParameter> library_parameters(const CommunicationLibrary&);

// What a training run depends on and no short test of a kernel shows, of this scenario's device and framework. Named as in their profiles.
std::vector<ProfileParameter> training_parameters(const Scenario&);

// What a process holds beyond the tensors that the model counts. Of this scenario's framework.
std::vector<ProfileParameter> memory_parameters(const Scenario&);

}  // namespace sextant
