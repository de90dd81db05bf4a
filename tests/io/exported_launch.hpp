// What is looked at of a launch that was exported.
#pragma once

#include "model/io/export/plan_export.hpp"

#include <string>
#include <vector>

namespace sextant {

using Words = std::vector<std::string>;

// Of its flags.
inline std::string value_of(const ExportedLaunch& launch, const std::string& flag) {
    for (const Words& words : launch.arguments)
        if (words.front() == flag) return words.size() > 1 ? words[1] : "set";
    return "absent";
}

}  // namespace sextant
