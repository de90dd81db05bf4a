// Where a number comes from. Every number of a profile carries this, so that a report can say how far it is to be trusted.
#pragma once

#include <string>
#include <string_view>

namespace sextant {

enum class SourceKind {
    datasheet,  // stated by the maker, or arithmetic on what the maker states
    measured,   // measured, on such a device, by somebody who shows how
    published,  // stated by a third party without showing how
    estimated,  // ours: inferred from relatives, or remembered
};

std::string_view to_text(SourceKind);

template <class T>
struct Sourced {
    T value{};
    SourceKind kind = SourceKind::estimated;
    std::string source;

    constexpr const T& operator*() const { return value; }
    constexpr const T* operator->() const { return &value; }
};

}  // namespace sextant
