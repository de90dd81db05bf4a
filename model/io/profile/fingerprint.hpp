// Tells whether a document was changed since it was written.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace sextant {

// FNV-1a, 64 bits: Fowler, Noll and Vo, "The FNV Non-Cryptographic Hash Algorithm", IETF draft. Against slips, not against intent.
std::uint64_t hash_of(std::string_view);

// Of a profile's content, whatever its spaces and the order of its keys, but for /calibration/fingerprint itself.
std::string fingerprint_of(const nlohmann::json& profile);

}  // namespace sextant
