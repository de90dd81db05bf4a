// What is looked at of a launch that was exported, and of why one was not.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/io/search/plan_export.hpp"

#include <functional>
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

// Pointers to all that is wrong.
inline Words refused_places(const std::function<void()>& act) {
    Words pointers;
    try {
        act();
    } catch (const InputError& e) {
        for (const Diagnostic& d : e.diagnostics()) pointers.push_back(d.pointer);
    }
    return pointers;
}

}  // namespace sextant
