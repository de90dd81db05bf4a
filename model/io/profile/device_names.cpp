#include "model/io/profile/device_names.hpp"

#include "model/io/profile/profile_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace sextant {
namespace {

// "8.6" as a number; 0 where there is none.
double capability_of(const std::string& compute_capability) {
    double number = 0;
    std::from_chars(compute_capability.data(), compute_capability.data() + compute_capability.size(), number);
    return number;
}

// What one multiprocessor multiplies in 16 bits.
FlopRate rate_of_multiprocessor(const Device& d) {
    const PeakRate* peak = d.peak(DataType::fp16, ComputeUnit::tensor);
    return peak != nullptr ? *peak->rate / std::max(1, d.multiprocessors) : FlopRate{};
}

}  // namespace

std::string catalog_name(Catalog& catalog, const std::string& device) {
    for (const std::string_view maker : {"", "NVIDIA ", "Tesla ", "AMD ", "NVIDIA GeForce ", "GeForce "}) {
        Diagnostics unused;
        std::string name = device.starts_with(maker) ? device.substr(maker.size()) : device;
        if (find_device(catalog, name, unused)) return name;
    }
    return device;
}

Device nearest_device(Catalog& catalog, const DeviceFacts& facts) {
    constexpr double held_down = 0.4;
    std::vector<const Device*> alike;
    for (const NamesOfKind& kind : all_names(catalog)) {
        if (kind.kind != "devices") continue;
        for (const std::string& name : kind.names) {
            Diagnostics unused;
            const Device* d = find_device(catalog, name, unused);
            if (!d || d->vendor != "NVIDIA" || capability_of(d->compute_capability) > capability_of(facts.compute_capability)) continue;
            if (!alike.empty() && capability_of(d->compute_capability) < capability_of(alike.front()->compute_capability)) continue;
            if (!alike.empty() && capability_of(d->compute_capability) > capability_of(alike.front()->compute_capability)) alike.clear();
            alike.push_back(d);
        }
    }
    FlopRate fastest;
    for (const Device* d : alike) fastest = max(fastest, rate_of_multiprocessor(*d));
    std::erase_if(alike, [&](const Device* d) { return rate_of_multiprocessor(*d) < held_down * fastest; });
    const auto apart = [&](const Device* d) { return std::abs(d->multiprocessors - facts.multiprocessors); };
    const auto found = std::ranges::min_element(alike, {}, apart);
    const Device* nearest = found != alike.end() ? *found : nullptr;
    if (!nearest)
        throw InputError(
            Diagnostic{"", "", "no device like " + facts.name + " is known here", "a profile of it in hardware_profiles/devices"});
    return *nearest;
}

}  // namespace sextant
