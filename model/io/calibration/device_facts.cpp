#include "model/io/calibration/device_facts.hpp"

#include "model/io/format/json_reader.hpp"
#include "model/io/format/json_text.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

DeviceFacts read_device_facts(const JsonNode& n) {
    ObjectReader r(n);
    DeviceFacts d;
    r.required("name", d.name);
    r.required("compute_capability", d.compute_capability);
    r.required("multiprocessors", d.multiprocessors, Bounds{1, 1e6});
    constexpr InSi some{{1, 1e18}}, some_or_none{{0, 1e18}};
    r.required("clock_hz", d.clock, some);
    r.required("memory_bytes", d.memory, some);
    r.required("l2_bytes", d.l2, some_or_none);
    r.required("memory_bytes_per_s", d.memory_bandwidth, some_or_none);
    r.required("copies_bytes_per_s", d.copies, some);
    return d;
}

}  // namespace

std::string device_facts_to_json(const std::vector<DeviceFacts>& devices) {
    Json list = Json::array();
    for (const DeviceFacts& d : devices)
        list.push_back({{"name", d.name},
                        {"compute_capability", d.compute_capability},
                        {"multiprocessors", d.multiprocessors},
                        {"clock_hz", d.clock.si()},
                        {"memory_bytes", d.memory.si()},
                        {"l2_bytes", d.l2.si()},
                        {"memory_bytes_per_s", d.memory_bandwidth.si()},
                        {"copies_bytes_per_s", d.copies.si()}});
    return json_document({{"schema", "devices/1"}, {"devices", list}});
}

std::vector<DeviceFacts> device_facts_from_json(const std::string& text, const std::string& name) {
    Diagnostics diagnostics;
    std::vector<DeviceFacts> devices;
    const JsonFile file = JsonFile::from_text(text, name, diagnostics);
    diagnostics.throw_if_any();
    {
        ObjectReader r(file.root());
        r.schema("devices/1");
        r.need("devices", "a list");
        r.each("devices", [&](const JsonNode& n) { devices.push_back(read_device_facts(n)); });
    }
    diagnostics.throw_if_any();
    return devices;
}

}  // namespace sextant
