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
};

// `place(T&)` is the Sourced number.
template <class T, class Place>
SourcedField<T> sourced_field(Place place) {
    using Value = std::remove_cvref_t<decltype(place(std::declval<T&>()).value)>;
    SourcedField<T> f;
    if constexpr (std::is_floating_point_v<Value>) {
        f.get = [place](const T& of) { return place(const_cast<T&>(of)).value; };
        f.set = [place](T& of, double v) { place(of).value = v; };
        f.text = [](double v) { return number_text(v); };
    } else {
        f.get = [place](const T& of) { return place(const_cast<T&>(of)).value.si(); };
        f.set = [place](T& of, double v) { place(of).value = Value::from_si(v); };
        f.text = [](double v) { return to_text(Value::from_si(v)); };
    }
    f.attribute = [place](T& of, const std::string& source) {
        place(of).kind = SourceKind::measured;
        place(of).source = source;
    };
    return f;
}

}  // namespace sextant
