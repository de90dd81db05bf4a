// A Sourced number somewhere in a T, to be read and set in SI units whatever its own unit is.
#pragma once

#include "model/base/provenance.hpp"
#include "model/base/quantity_text.hpp"

#include <functional>
#include <string>

namespace sextant {

template <class T>
struct SourcedField {
    std::function<double(const T&)> get;
    std::function<void(T&, double)> set;                           // leaves kind and source alone
    std::function<std::string(double)> text;                       // "34.1 GFLOP/s"
    std::function<void(T&, const std::string& source)> attribute;  // says that it was measured, and by whom
    std::function<SourceKind(const T&)> kind;                      // of the number as it stands there
};

// `find(const T&)` points to the Sourced number, or to none where the T has none, which then reads as `absent` (SI units), an estimate.
// `make(T&)` is the number, made where there was none.
template <class T, class Find, class Make>
SourcedField<T> sourced_field(Find find, Make make, double absent) {
    using Value = std::remove_cvref_t<decltype(find(std::declval<const T&>())->value)>;
    SourcedField<T> f;
    if constexpr (std::is_floating_point_v<Value>) {
        f.get = [find, absent](const T& of) { return find(of) != nullptr ? find(of)->value : absent; };
        f.set = [make](T& of, double v) { make(of).value = v; };
        f.text = [](double v) { return number_text(v); };
    } else {
        f.get = [find, absent](const T& of) { return find(of) != nullptr ? find(of)->value.si() : absent; };
        f.set = [make](T& of, double v) { make(of).value = Value::from_si(v); };
        f.text = [](double v) { return to_text(Value::from_si(v)); };
    }
    f.attribute = [make](T& of, const std::string& source) {
        make(of).kind = SourceKind::measured;
        make(of).source = source;
    };
    f.kind = [find](const T& of) { return find(of) != nullptr ? find(of)->kind : SourceKind::estimated; };
    return f;
}

// Of a number that each T has: `place(of)` is a reference to it, as constant as `of`.
template <class T, class Place>
SourcedField<T> sourced_field(Place place) {
    return sourced_field<T>([place](const T& of) { return &place(of); }, place, 0);
}

}  // namespace sextant
