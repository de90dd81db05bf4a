// Numbers of a profile as JSON that reads back: quantities as people write them.
#pragma once

#include "model/base/provenance.hpp"
#include "model/base/quantity_text.hpp"

#include <nlohmann/json.hpp>

namespace sextant {

inline nlohmann::ordered_json profile_value(double number) { return number; }
template <int B, int F, int S, int J, int M>
nlohmann::ordered_json profile_value(Quantity<B, F, S, J, M> q) {
    constexpr int digits = 9;
    return to_text(q, digits);
}

// A number as `value` says it, with where it comes from.
template <class T>
nlohmann::ordered_json sourced_json(const Sourced<T>& n, nlohmann::ordered_json value) {
    return {{"value", std::move(value)}, {"kind", to_text(n.kind)}, {"source", n.source}};
}
template <class T>
nlohmann::ordered_json sourced_json(const Sourced<T>& n) {
    return sourced_json(n, profile_value(n.value));
}

}  // namespace sextant
