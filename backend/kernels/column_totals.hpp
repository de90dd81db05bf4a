// Sums over the rows of matrices, column by column, in an order that does not depend on what runs at the same time: first of chunks of
// rows, then of the chunks.
#pragma once

#include "backend/exec/array.hpp"
#include "backend/kernels/lanes.hpp"

namespace sextant::kernels {

// Two sums at once.
struct Two {
    float first = 0, second = 0;
    SEXTANT_KERNEL Two& operator+=(const Two& other) {
        first += other.first;
        second += other.second;
        return *this;
    }
};

template <class Value, class Term>
struct ChunkTotals {
    Term term;
    std::int64_t rows, columns, chunk, chunks;
    Value* totals;  // [segments, chunks, columns]

    SEXTANT_KERNEL void operator()(std::int64_t at, std::int64_t column) const {
        const std::int64_t segment = at / chunks, begin = at % chunks * chunk;
        const std::int64_t end = begin + chunk < rows ? begin + chunk : rows;
        Value sum{};
        for (std::int64_t row = begin; row < end; ++row) sum += term(segment, row, column);
        totals[at * columns + column] = sum;
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
    constexpr std::int64_t few = 32;
    Array totals = m.scratch(segments * columns * reals);
    const auto chunk = rows <= few ? rows : static_cast<std::int64_t>(std::sqrt(static_cast<double>(rows)));
    const std::int64_t chunks = (rows + chunk - 1) / chunk;
    if (chunks == 1) {
        m.matrix(segments, columns, ChunkTotals<Value, Term>{term, rows, columns, rows, 1, values_in<Value>(totals)});
        return totals;
    }
    const Array parts = m.scratch(segments * chunks * columns * reals);
    m.matrix(segments * chunks, columns, ChunkTotals<Value, Term>{term, rows, columns, chunk, chunks, values_in<Value>(parts)});
    const StoredTotals<Value> stored{values_in<Value>(parts), chunks, columns};
    m.matrix(segments, columns, ChunkTotals<Value, StoredTotals<Value>>{stored, chunks, columns, chunks, 1, values_in<Value>(totals)});
    return totals;
}

struct AddElements {
    const float* from;
    float* sums;
    SEXTANT_KERNEL void operator()(std::int64_t i) const { sums[i] += from[i]; }
};

// What is stored in fewer bits is rounded.
template <class From, class To>
struct Convert {
    const From* from;
    To* to;
    SEXTANT_KERNEL void operator()(std::int64_t i) const { to[i] = static_cast<float>(from[i]); }
};

// The rows of a matrix, added to `sums`.
template <class T, class Machine>
void add_column_sums(Machine& m, const T* from, float* sums, std::int64_t rows, std::int64_t columns) {
    const Array totals = column_totals<float>(m, StoredTotals<T>{from, rows, columns}, 1, rows, columns);
    m.elements(columns, AddElements{totals.reals(), sums});
}

}  // namespace sextant::kernels
