#include "model/io/profile/fingerprint.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace sextant {

std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

std::string fingerprint_of(const nlohmann::json& profile) {
    nlohmann::json content = profile;
    if (content.is_object() && content.contains("calibration") && content["calibration"].is_object())
        content["calibration"].erase("fingerprint");
    char text[20];
    std::snprintf(text, sizeof text, "%016llx",
                  static_cast<unsigned long long>(hash_of(content.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))));
    return text;
}

}  // namespace sextant
