// What the lists of parameters are written with: how far a number may go, and where it stands in a scenario.
// Internal to profile_parameters.cpp, library_parameters.cpp and training_parameters.cpp.
#pragma once

#include "model/calibrate/profile_parameters.hpp"

#include <string>
#include <utility>

namespace sextant {

// Of a number: what such hardware and frameworks can have, how sure we are of it without measuring, what is usual where nothing is known,
// and where a fit begins.
template <class T>
struct ParameterRange {
    T least, most;
    double spread = 0;
    T usual{}, begin{}, other_begin{};
};

// How sure we are. A number that nobody knows may be off by a factor of e either way. Of a library's numbers, and of what links and peaks
// reach, the profile is a fair guess. How much a thread asks memory for at a time stands in the kernels, not how many threads there is
// room for.
inline constexpr double unknown = 1.0, unsure = 0.7, in_flight_known = 0.4;

// The most that convolutions reach of the rate of matrix products: 2017's libraries were faster at them than at products of the same size.
inline constexpr double as_products = 1.33;

inline double si_of(double fraction) { return fraction; }
template <class Unit>
double si_of(Unit quantity) {
    return quantity.si();
}

// `field` is what makes a SourcedField: the place of a number, or how it is found and made.
template <class T, class... Field>
ProfileParameter parameter(std::string name, ParameterOwner owner, ParameterRange<T> range, Field... field) {
    return {sourced_field<Scenario>(field...),
            std::move(name),
            owner,
            si_of(range.least),
            si_of(range.most),
            si_of(range.usual),
            range.spread,
            si_of(range.begin),
            si_of(range.other_begin)};
}

// The number itself, where a profile need not state it.
template <class Number>
auto& stated(Number& n) {
    if constexpr (requires { n.has_value(); })
        return *n;
    else
        return n;
}

// Places of numbers: of the device, and of the framework.
template <class Member>
auto in_device(Member member) {
    return [member](auto& s) -> auto& { return stated(s.cluster.node.device.*member); };
}
template <class Member>
auto in_framework(Member member) {
    return [member](auto& s) -> auto& { return s.framework.*member; };
}

}  // namespace sextant
