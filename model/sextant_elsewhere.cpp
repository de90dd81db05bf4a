// The same job under other software and on other hardware of the library.
#include "model/io/profile/framework_reader.hpp"
#include "model/io/profile/profile_reader.hpp"
#include "model/plan/framework_defaults.hpp"
#include "model/plan/plan_features.hpp"
#include "model/report/better_settings.hpp"
#include "model/sextant.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace sextant {
namespace {

// Its library too, where the scenario does not state another.
std::optional<Scenario> under(Library& library, Scenario job, const std::string& framework) {
    Diagnostics problems;
    Framework other = load_framework(framework, library.root, problems);
    const auto usual = [&job](const Framework& f) { return usual_library(f, job.cluster.node.device, job.use_ethernet); };
    if (job.library.name == usual(job.framework))
        if (const auto* found = find_library(library.catalog, usual(other), problems)) job.library = *found;
    job.framework = std::move(other);
    if (loads_frozen_weights_narrow(job.plan, job.framework, job.workload)) job.plan.autocast = false;
    return problems.empty() ? std::optional(std::move(job)) : std::nullopt;
}

std::vector<std::string> names_of(Catalog& catalog, std::string_view kind) {
    for (NamesOfKind& of : all_names(catalog))
        if (of.kind == kind) return std::move(of.names);
    return {};
}

// With devices of the same maker that have so much memory, least first, one of each size: they stand in the same nodes.
std::vector<Scenario> with_larger_devices(Catalog& catalog, const Scenario& job, Bytes memory) {
    const Device& own = job.cluster.node.device;
    std::vector<const Device*> devices;
    for (const std::string& name : names_of(catalog, "devices")) {
        Diagnostics ignored;  // of files that are not this job's
        const Device* d = find_device(catalog, name, ignored);
        if (d && d->kind == own.kind && d->vendor == own.vendor && memory_for_programs(*d) >= memory) devices.push_back(d);
    }
    std::ranges::stable_sort(devices, {}, [](const Device* d) { return memory_for_programs(*d); });
    std::vector<Scenario> places;
    for (const Device* d : devices) {
        if (!places.empty() && places.back().cluster.node.device.memory.value == d->memory.value) continue;
        places.push_back(job);
        places.back().cluster.node.device = *d;
    }
    return places;
}

// On nodes whose devices are their cores: slower, and with much memory. What is read from storage of the job's own cluster stays there.
std::vector<Scenario> on_cores(Catalog& catalog, const Scenario& job) {
    std::vector<Scenario> places;
    if (!job.data.synthetic || job.cluster.node.device.kind == DeviceKind::cpu) return places;
    for (const std::string& name : names_of(catalog, "clusters")) {
        Diagnostics problems;
        const Cluster* c = find_cluster(catalog, name, problems);
        if (!c || c->node.device.kind != DeviceKind::cpu) continue;
        Scenario place = job;
        place.cluster = *c;
        place.plan.devices_per_node.reset();
        place.plan.node_ranks.clear();
        place.straggler.reset();
        place.cores.reset();
        place.reserved_devices = 0;
        const auto* library = find_library(catalog, usual_library(job.framework, c->node.device, job.use_ethernet), problems);
        if (library) place.library = *library;
        places.push_back(std::move(place));
    }
    return places;
}

// The fastest of these places in which a job fits, as it is or with one setting of the plan that makes it fit there. A place is the same
// job under other software or on other hardware.
std::optional<PricedSetting> fastest_that_fits(const Scenario& job, const std::vector<Scenario>& places) {
    const Seconds now = estimate(prepare(job)).step;
    std::optional<PricedSetting> fastest;
    const auto keep = [&](PricedSetting s) {
        const bool can = missing_features(s.job.plan, s.job.framework, s.job.cluster).empty();
        if (can && !s.per_sample && (!fastest || s.step < fastest->step)) fastest = std::move(s);
    };
    for (const Scenario& place : places) {
        if (!check_plan(place).empty()) continue;
        try {
            const Prepared there = prepare(place);
            if (const Estimate e = estimate(there); e.fits())
                keep({place, e.step, e.peak_memory});
            else
                for (PricedSetting& s : better_settings(there, false)) keep(std::move(s));
        } catch (const InputError&) {  // the network does not divide so there
        }
    }
    if (fastest) fastest->gain = 1 - fastest->step / now;
    return fastest;
}

// How much somebody who knows one has to learn: another way to start ranks counts most, then what it can do and how its kernels are made.
std::ptrdiff_t unlikeness(const Framework& a, const Framework& b) {
    const auto only_of = [](const Framework& one, const Framework& other) {
        return std::ranges::count_if(one.lacks, [&](PlanFeature f) { return other.can(f); });
    };
    constexpr std::ptrdiff_t more_than_all_else = 1000;
    return (a.starter != b.starter ? more_than_all_else : 0) + only_of(a, b) + only_of(b, a) + (a.fusion != b.fusion) +
           (a.fused_optimizer != b.fused_optimizer) + (a.fused_cross_entropy != b.fused_cross_entropy) +
           (a.casts_each_use != b.casts_each_use);
}

// The framework most like the job's own under which it fits, and the fastest of several that are equally alike.
std::optional<PricedSetting> nearest_framework(Library& library, const Scenario& job) {
    std::map<std::ptrdiff_t, std::vector<Scenario>> places;
    for (Scenario& place : under_other_frameworks(library, job))
        places[unlikeness(job.framework, place.framework)].push_back(std::move(place));
    for (const auto& [apart, alike] : places)
        if (auto found = fastest_that_fits(job, alike)) return found;
    return {};
}

}  // namespace

std::vector<Scenario> under_other_frameworks(Library& library, const Scenario& job) {
    std::vector<Scenario> places;
    for (const std::string& name : framework_names(library.root))
        if (name != job.framework.name)
            if (std::optional<Scenario> place = under(library, job, name)) places.push_back(std::move(*place));
    return places;
}

void look_elsewhere(Library& library, Report& r) {
    if (r.estimate.fits()) return;
    const auto keep = [&](std::optional<PricedSetting> found) {
        if (found) r.bottleneck.elsewhere.push_back(std::move(*found));
        return found.has_value();
    };
    if (r.bottleneck.settings.empty()) keep(nearest_framework(library, r.job));
    int devices = 0;
    for (const Scenario& place : with_larger_devices(library.catalog, r.job, r.estimate.peak_memory))
        if (devices < 2 && keep(fastest_that_fits(r.job, {place}))) ++devices;
    keep(fastest_that_fits(r.job, on_cores(library.catalog, r.job)));
}

}  // namespace sextant
