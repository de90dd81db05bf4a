// One visitor of a variant out of a lambda for each alternative.
#pragma once

namespace sextant {

template <class... Visitors>
struct Overloaded : Visitors... {
    using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;  // clang 14 does not deduce it from the aggregate

}  // namespace sextant
