#include "model/io/scenario/device_overrides.hpp"

#include "model/base/parse_number.hpp"
#include "model/io/profile/profile_fields.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

namespace sextant {
namespace {

void take_part_of_memory(Device& d, double part) {
    d.memory.value = part * d.memory.value;
    if (d.usable_memory) d.usable_memory->value = part * d.usable_memory->value;
}

// The slice "3g.20gb" of a multi-instance GPU has 3 of the 8 clusters of its multiprocessors, and as many of the 8 parts of its memory and
// its ways there as make 20 GB. NVIDIA names 7 compute slices because one cluster stays unused; a slice of an A100 has 14 of 108
// multiprocessors and one of an H100 16 of 132 (recalled): an eighth is 4 % off. Slices share nothing but the host's link.
void take_slice(const JsonNode& node, Device& d) {
    std::string text;
    if (!read_value(node, text)) return;
    constexpr double slices = 8;
    std::string_view words = text;
    std::optional<int> compute, gigabytes;
    if (const std::size_t at = words.find("g."); at != std::string_view::npos && words.ends_with("gb")) {
        words.remove_suffix(2);
        compute = parse_number<int>(words.substr(0, at));
        gigabytes = parse_number<int>(words.substr(at + 2));
    }
    const double memory = std::round(slices * gigabytes.value_or(0) * units::GB / d.memory.value);
    if (!compute || *compute < 1 || *compute >= slices || !(memory >= 1 && memory <= slices))
        return node.complain("\"" + text + "\" is no slice of this device", "as nvidia-smi has it: \"3g.20gb\" of 40 GB");
    const auto divide = [](auto& number, double by) {
        number.value *= by;
        number.source += ", a slice of it";
    };
    const Sourced<Frequency> clock = d.clock;
    scale_compute(d, *compute / slices, divide);
    d.clock = clock;
    d.multiprocessors = std::max(1, static_cast<int>(std::lround(d.multiprocessors * *compute / slices)));
    divide(d.memory_bandwidth, memory / slices);
    take_part_of_memory(d, memory / slices);
}

// Other jobs have the rest (MPS, time slicing): in the long run this one has its share of all that the device does, and launches its
// kernels while the others have it.
void take_share(const JsonNode& node, Device& d, bool memory_is_stated) {
    double share = 1;
    if (!read_value(node, share, Bounds{0.01, 1})) return;
    const auto divide = [](auto& number, double by) {
        number.value *= by;
        number.source += ", a share of it";
    };
    scale_compute(d, share, divide);
    divide(d.memory_bandwidth, share);
    if (!memory_is_stated) take_part_of_memory(d, share);
}

// What a question of the kind "what if it had ..." changes about the profile's device.
void read_device_overrides(const JsonNode& node, const ScenarioSources& sources, Device& device) {
    ObjectReader r(node);
    r.default_source(stated_by_scenario);
    if (const JsonNode base = r.get("base"); base.value) device = sources.device(base);
    r.optional("name", device.name);
    if (r.optional("memory", device.memory, plausible::memory)) device.usable_memory.reset();
    r.optional("memory_bandwidth", device.memory_bandwidth, plausible::bandwidth);
    Sourced<Frequency> clock = device.clock;
    const bool clocked = r.optional("clock", clock, plausible::clock);
    r.optional("power", device.power, plausible::power);
    r.optional("price", device.price, plausible::price);
    double scale = 1;
    const bool scaled = r.optional("peak_scale", scale, Bounds{1e-3, 1e3});
    if (clocked || scaled) {
        const double faster = device.clock.value > Frequency{} ? clock.value / device.clock.value : 1;
        scale_compute(device, scale * faster, [](auto& number, double by) {
            number.value *= by;
            number.kind = stated_by_scenario.kind;
            number.source += ", scaled by the scenario";
        });
    }
    if (clocked) device.clock = {scale * clock.value, clock.kind, clock.source};
    if (const JsonNode n = r.get("mig"); n.value) take_slice(n, device);
    if (const JsonNode n = r.get("share"); n.value) take_share(n, device, r.has("memory"));
}

}  // namespace

void read_device(const JsonNode& node, const ScenarioSources& sources, Device& device) {
    const bool whole = node.is_string() || node.child("peaks").value;
    if (whole)
        device = sources.device(node);
    else
        read_device_overrides(node, sources, device);
}

}  // namespace sextant
