// A product as BLAS takes it, whose matrices lie in column order. Memory in row order, read in column order, holds the transposed matrix;
// and where c = a b, transposed c = transposed b times transposed a.
#pragma once

#include "backend/kernels/product.hpp"

namespace sextant::kernels {

struct Operand {
    std::byte* data;
    Element element;
    bool transpose;
    std::int64_t leading, stride;  // between columns, between matrices
};

// c [m, n] = scale a [m, k] b [k, n] + keep c, for each of `batch` matrices, and to each column of c the bias [m], which may be null.
struct ColumnMajor {
    std::int64_t m, n, k, batch;
    Operand a, b, c;
    float scale, keep;
    const std::byte* bias;
};

inline Operand operand_of(const Matrices& x) { return {x.data, x.element, x.transposed, x.pitch, x.stride}; }

inline ColumnMajor column_major(const Product& p) {
    return {p.c.columns, p.c.rows, p.a.columns, p.batch, operand_of(p.b), operand_of(p.a), operand_of(p.c), p.scale, p.keep, p.bias};
}

}  // namespace sextant::kernels
