// Shared by the readers of profiles: numbers with a source inside plausible bounds.
#pragma once

#include "model/io/format/json_reader.hpp"

namespace sextant {

// Outside of these a number is a slip of the unit or of the keyboard, in SI.
namespace plausible {
inline constexpr Bounds memory{1e6, 1e17};
inline constexpr Bounds bandwidth{1e5, 1e17};
inline constexpr Bounds compute_rate{1e6, 1e20};
inline constexpr Bounds clock{1e6, 1e12};
inline constexpr Bounds latency{0, 100};
inline constexpr Bounds operation_rate{1e-3, 1e12};
inline constexpr Bounds power{0.01, 1e7};
inline constexpr Bounds price{0, 100};  // USD per second
inline constexpr Bounds part{1e-4, 1};  // a fraction that must not be zero
inline constexpr Bounds retention{1, 1e10};
}  // namespace plausible

// `"kind"` and `"source"` of an object: what its numbers inherit. Without them: estimated, "stated in <file>".
void read_default_source(ObjectReader&, const Provenance& outer = {});

template <class T>
bool read_sourced(const ObjectReader& r, const JsonNode& n, Sourced<T>& field, Bounds bounds) {
    if (!n.value) return false;
    Provenance p = r.default_source();
    const JsonNode value = read_provenance(n, p);
    if (!value.value || !read_value(value, field.value, bounds)) return false;
    field.kind = p.kind;
    field.source = std::move(p.source);
    return true;
}
template <class T>
bool require_sourced(ObjectReader& r, std::string_view key, Sourced<T>& field, Bounds bounds, std::string_view hint = {}) {
    return read_sourced(r, r.need(key, hint), field, bounds);
}
template <class T>
bool read_sourced(ObjectReader& r, std::string_view key, Sourced<T>& field, Bounds bounds) {
    return read_sourced(r, r.get(key), field, bounds);
}
template <class T>
bool read_sourced(ObjectReader& r, std::string_view key, std::optional<Sourced<T>>& field, Bounds bounds) {
    Sourced<T> value;
    if (!read_sourced(r, r.get(key), value, bounds)) return false;
    field = std::move(value);
    return true;
}

}  // namespace sextant
