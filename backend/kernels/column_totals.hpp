// Sums over the rows of matrices, column by column, in an order that does not depend on what runs at the same time: first of chunks of
// rows, then of the chunks.
#pragma once

#include "backend/exec/array.hpp"
#include "backend/kernels/lanes.hpp"

#include <algorithm>

namespace sextant::kernels {

// Two sums at once.
struct FloatPair {
    float first = 0, second = 0;
    SEXTANT_KERNEL FloatPair& operator+=(const FloatPair& other) {
        first += other.first;
        second += other.second;
        return *this;
    }
};

template <class Value>
struct StoredTotals {
    const Value* totals;
    std::int64_t rows, columns;
    SEXTANT_KERNEL Value operator()(std::int64_t segment, std::int64_t row, std::int64_t column) const {
        return totals[(segment * rows + row) * columns + column];
    }
};

template <class Value>
Value* values_in(const Array& a) {
    return static_cast<Value*>(a.memory.get());
}

// [segments, columns]: of each segment, the sums over its rows of term(segment, row, column).
template <class Value, class Machine, class Term>
Array column_totals(Machine& m, const Term& term, std::int64_t segments, std::int64_t rows, std::int64_t columns) {
    constexpr auto reals = static_cast<std::int64_t>(sizeof(Value) / sizeof(float));
    // Rows are cut into chunks of at least so many until a large device has enough parts to be busy with. Threads take columns side by
    // side.
    constexpr std::int64_t least_chunk = 64, side_by_side = 32, most_parts = 1024;
    const std::int64_t strips = std::max<std::int64_t>(1, segments * ceil_div(columns, side_by_side));
    const std::int64_t wanted = std::max<std::int64_t>(1, most_parts / strips);
    const std::int64_t chunk = std::max(least_chunk, ceil_div(rows, wanted)), chunks = ceil_div(rows, chunk);
    Array totals = m.scratch(segments * columns * reals);
    if (chunks <= 1) {
        m.totals(segments, rows, columns, chunk, term, values_in<Value>(totals));
        return totals;
    }
    const Array parts = m.scratch(segments * chunks * columns * reals);
    m.totals(segments, rows, columns, chunk, term, values_in<Value>(parts));
    m.totals(segments, chunks, columns, chunks, StoredTotals<Value>{values_in<Value>(parts), chunks, columns}, values_in<Value>(totals));
    return totals;
}

struct AddElements : ToElement<float> {
    const float* from;
    SEXTANT_KERNEL float operator()(std::int64_t i) const { return to[i] + from[i]; }
};

// What is stored in fewer bits is rounded.
template <class From, class To>
struct Convert : ToElement<To> {
    const From* from;
    SEXTANT_KERNEL float operator()(std::int64_t i) const { return from[i]; }
};

// The sum of the rows of a matrix [rows, columns], added to `sums` [columns].
template <class T, class Machine>
void add_column_sums(Machine& m, const T* from, float* sums, std::int64_t rows, std::int64_t columns) {
    const Array totals = column_totals<float>(m, StoredTotals<T>{from, rows, columns}, 1, rows, columns);
    m.elements(columns, AddElements{{sums}, totals.reals()});
}

}  // namespace sextant::kernels
