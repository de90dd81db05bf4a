// Random choices that are the same everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>

namespace sextant {

// Independent of the standard library's distributions, which differ between implementations.
class Draw {
public:
    explicit Draw(std::uint64_t seed) : engine_(seed) {}
    std::size_t below(std::size_t n) { return engine_() % n; }
    bool one_in(std::size_t n) { return below(n) == 0; }
    template <class T>
    T of(std::initializer_list<T> list) {
        return *(list.begin() + below(list.size()));
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace sextant
