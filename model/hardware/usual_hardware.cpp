#include "model/hardware/usual_hardware.hpp"

#include "model/base/spelling.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {

const UsualHardware::Nvlinks* UsualHardware::nvlinks_of(std::string_view device, std::string_view architecture) const {
    const auto found = std::ranges::find_if(
        nvlinks, [&](const Nvlinks& n) { return mentions(device, n.device) && mentions(architecture, n.architecture); });
    return found != nvlinks.end() ? &*found : nullptr;
}

const UsualHardware::Host* UsualHardware::host_of(std::string_view architecture) const {
    const auto found = std::ranges::find_if(hosts, [&](const Host& h) { return h.architecture.empty() || h.architecture == architecture; });
    return found != hosts.end() ? &*found : nullptr;
}

const UsualHardware::Network* UsualHardware::network_of(std::string_view fabrics, Bandwidth port) const {
    const auto apart = [&](const Network& n) { return std::fabs(std::log(n.port / port)); };
    const Network* nearest = nullptr;
    for (const Network& n : networks)
        if (mentions(fabrics, n.fabric) && (!nearest || apart(n) < apart(*nearest))) nearest = &n;
    return nearest;
}

}  // namespace sextant
