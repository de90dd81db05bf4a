// What an accelerator computes, element by element and row by row, as functions that a host compiler understands too: so the arithmetic
// is tested where there is no accelerator.
//
// A function of a row is worked on by several lanes at once: the threads of a block on an accelerator; on the host one lane, or some that a
// test simulates. Lane l of n takes the elements l, l + n, l + 2 n ...; sum() and max() give all lanes the same result, and all lanes must
// call them.
#pragma once

#ifdef __CUDACC__
#define SEXTANT_KERNEL __host__ __device__
#else
#define SEXTANT_KERNEL
#endif

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace sextant::kernels {

constexpr float lowest = -3.4028234e38F;  // of all floats: where the search for the largest begins

// How many parts of such a size cover a whole; the last may be smaller.
constexpr SEXTANT_KERNEL std::int64_t ceil_div(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }

// What lanes offer that have a reduce(mine, combine) for all of them.
template <class Lanes>
struct Reductions {
    template <class Value>
    SEXTANT_KERNEL Value sum(Value mine) const {
        return static_cast<const Lanes&>(*this).reduce(mine, [](Value a, Value b) { return a + b; });
    }
    template <class Value>
    SEXTANT_KERNEL Value max(Value mine) const {
        return static_cast<const Lanes&>(*this).reduce(mine, [](Value a, Value b) { return a < b ? b : a; });
    }
};

struct OneLane : Reductions<OneLane> {
    [[nodiscard]] static SEXTANT_KERNEL std::int64_t first() { return 0; }
    [[nodiscard]] static SEXTANT_KERNEL std::int64_t step() { return 1; }
    template <class Value, class Combine>
    SEXTANT_KERNEL Value reduce(Value mine, const Combine&) const {
        return mine;
    }
};

// A function of an element stores what it makes: f(at). Or it does so in two parts, and a thread may begin with several elements before it
// ends with the first of them, and so waits for memory once:
//   f.put(at, f(at))                 f(at) has no branches, and depends on nothing that is stored elsewhere
//   f.put(at, f(f.read(at)))         where it has
template <class Function, class... At>
constexpr bool reads = requires(const Function& f, At... at) {
    f.read(at...);
};
template <class Function, class... At>
constexpr bool makes = requires(const Function& f, At... at) {
    requires !std::is_void_v<decltype(f(at...))>;
};
template <class Function, class... At>
constexpr bool in_two_parts = reads<Function, At...> || makes<Function, At...>;

template <class Function, class... At>
SEXTANT_KERNEL auto begin_at(const Function& f, At... at) {
    if constexpr (reads<Function, At...>)
        return f.read(at...);
    else
        return f(at...);
}
template <class Function, class Begun, class... At>
SEXTANT_KERNEL void end_at(const Function& f, const Begun& begun, At... at) {
    if constexpr (reads<Function, At...>)
        f.put(at..., f(begun));
    else
        f.put(at..., begun);
}
template <class Function, class... At>
SEXTANT_KERNEL void run_at(const Function& f, At... at) {
    if constexpr (in_two_parts<Function, At...>)
        end_at(f, begin_at(f, at...), at...);
    else
        f(at...);
}

// work.operator()<flag>(), where a kernel is to be compiled for each.
template <class Work>
void with_flag(bool flag, const Work& work) {
    flag ? work.template operator()<true>() : work.template operator()<false>();
}

template <class T>
struct ToElement {
    T* to;
    SEXTANT_KERNEL void put(std::int64_t i, float value) const { to[i] = value; }
};

template <class T>
struct ToMatrix {
    T* to;
    std::int64_t width;  // between rows
    SEXTANT_KERNEL void put(std::int64_t row, std::int64_t column, float value) const { to[row * width + column] = value; }
};

// Likewise of the elements of a row: put(i, make(i)). A put may change what make() reads at the same i.
template <class Lanes, class Make, class Put>
SEXTANT_KERNEL void for_row(const Lanes& lanes, std::int64_t width, const Make& make, const Put& put) {
    constexpr int at_once = 4;
    const std::int64_t step = lanes.step();
    std::int64_t i = lanes.first();
    for (; i + (at_once - 1) * step < width; i += at_once * step) {
        std::invoke_result_t<const Make&, std::int64_t> made[at_once];
        for (int k = 0; k < at_once; ++k) made[k] = make(i + k * step);
        for (int k = 0; k < at_once; ++k) put(i + k * step, made[k]);
    }
    for (; i < width; i += step) put(i, make(i));
}
template <class Lanes, class T, class Make>
SEXTANT_KERNEL void put_row(const Lanes& lanes, std::int64_t width, T* to, const Make& make) {
    for_row(lanes, width, make, [to](std::int64_t i, float value) { to[i] = value; });
}

// The sum over a row, which all lanes get.
template <class Lanes, class Term>
SEXTANT_KERNEL auto sum_row(const Lanes& lanes, std::int64_t width, const Term& term) {
    using Value = std::invoke_result_t<const Term&, std::int64_t>;
    Value sum{};
    for_row(lanes, width, term, [&](std::int64_t, const Value& value) { sum += value; });
    return lanes.sum(sum);
}

// What a device offers to the code beside this file, as `Machine`:
//   elements(count, f)               f of each i below count
//   matrix(rows, columns, f)         f of each row and column
//   totals(segments, rows, columns, chunk, term, to)
//                                    to[segment, part, column]: sums of term(segment, row, column) over the rows of each part, so many
//                                    rows, in an order that does not depend on what runs at the same time
//   rows(count, width, f)            f(lanes, row) for each row below count; a row has about `width` elements
//   multiply(product)                see product.hpp
//   clear(to, count)                 zeros
//   copy(from, to, count)
//   scratch(count, element)          an Array, until it is released; of fp32 where no element is said
// all in the order in which they are called for. Functions are values that can be copied to the device.

}  // namespace sextant::kernels
