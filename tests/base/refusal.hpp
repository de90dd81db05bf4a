// Why input is refused, for tests that look at it.
#pragma once

#include "model/base/diagnostics.hpp"

#include <string>
#include <vector>

namespace sextant {

// All that is wrong; nothing where `act` throws no InputError.
template <class Act>
std::vector<Diagnostic> problems_found_by(const Act& act) {
    try {
        static_cast<void>(act());
    } catch (const InputError& e) {
        return e.diagnostics();
    }
    return {};
}

// The same as people read it.
template <class Act>
std::string refusal_by(const Act& act) {
    const std::vector<Diagnostic> problems = problems_found_by(act);
    return problems.empty() ? std::string() : InputError(problems).what();
}

inline std::vector<std::string> pointers_of(const std::vector<Diagnostic>& problems) {
    std::vector<std::string> pointers;
    for (const Diagnostic& d : problems) pointers.push_back(d.pointer);
    return pointers;
}
template <class Act>
std::vector<std::string> refused_pointers(const Act& act) {
    return pointers_of(problems_found_by(act));
}

}  // namespace sextant
