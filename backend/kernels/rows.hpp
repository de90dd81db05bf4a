// Operators on the rows of the residual stream, [rows, width], and sums; see backend/cpu/rows.cpp.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/column_totals.hpp"
#include "backend/kernels/shared_columns.hpp"

namespace sextant::kernels {

// Where a pixel lies, of images of this size one behind the other.
struct PixelPlace {
    std::int64_t sample, row, column;

    SEXTANT_KERNEL PixelPlace(std::int64_t pixel, std::int64_t height, std::int64_t width)
        : sample(pixel / width / height), row(pixel / width % height), column(pixel % width) {}
};

template <class T>
struct AddArrays : ToElement<T> {
    const T *a, *b;
    SEXTANT_KERNEL float operator()(std::int64_t i) const { return a[i] + b[i]; }
};

template <class T>
struct AddRow : ToMatrix<T> {
    const T *x, *row;
    SEXTANT_KERNEL float operator()(std::int64_t r, std::int64_t i) const { return x[r * this->width + i] + row[i]; }
};

// The rows here are neighbours in the residual stream of the tensor group, from row `before` on, which has `here` rows of each sequence. A
// table with a row for each position is read by position; one with fewer (segments) cuts each sample into as many even parts.
struct TableRows {
    std::int64_t before, here, sequence, rows;
    ContextCut context;
    [[nodiscard]] SEXTANT_KERNEL std::int64_t position(std::int64_t row) const { return context.position((before + row) % here, here); }
    [[nodiscard]] SEXTANT_KERNEL std::int64_t of(std::int64_t row) const {
        return rows < sequence ? position(row) * rows / sequence : position(row);
    }
};

template <class T>
struct AddTable : ToMatrix<T> {
    TableRows table;
    const T *x, *values;
    SEXTANT_KERNEL float operator()(std::int64_t r, std::int64_t i) const {
        return x[r * this->width + i] + values[table.of(r) * this->width + i];
    }
};

// Of each position that is here, the sum over the rows at it. dy: [count, width]; sums: [sequence, width], by position.
template <class T>
struct SumByPosition {
    TableRows table;
    const T* dy;
    float* sums;
    std::int64_t count, width;  // rows here
    SEXTANT_KERNEL void operator()(std::int64_t at, std::int64_t i) const {
        float sum = 0;
        for (std::int64_t row = (at - table.before % table.here + table.here) % table.here; row < count; row += table.here)
            sum += dy[row * width + i];
        sums[table.context.position(at, table.here) * width + i] = sum;
    }
};

// Copies rows x width elements between matrices; `pitch`: the elements from one row of `from` to the next.
template <class T>
struct CopyColumns : ToMatrix<T> {
    const T* from;
    std::int64_t pitch;
    SEXTANT_KERNEL float operator()(std::int64_t r, std::int64_t i) const { return from[r * pitch + i]; }
};

// The class token goes before the other tokens of each sample.
template <class T>
struct PutClassToken : ToMatrix<T> {
    const T *x, *token;
    std::int64_t tokens;  // with it
    SEXTANT_KERNEL float operator()(std::int64_t row, std::int64_t i) const {
        const std::int64_t sample = row / tokens, at = row % tokens;
        return at == 0 ? token[i] : x[(sample * (tokens - 1) + at - 1) * this->width + i];
    }
};

// `rows` of the `of` rows of x, spread evenly over them.
template <class T>
struct SelectRows : ToMatrix<T> {
    const T* x;
    std::int64_t rows, of;
    SEXTANT_KERNEL float operator()(std::int64_t row, std::int64_t i) const { return x[row * of / rows * this->width + i]; }
};

template <class T>
struct SpreadRows {
    const T* dy;
    T* dx;
    std::int64_t width, rows, of;
    SEXTANT_KERNEL void operator()(std::int64_t row, std::int64_t i) const { dx[row * of / rows * width + i] = dy[row * width + i]; }
};

inline TableRows table_of(const OperatorCall& c) {
    const std::int64_t width = c.output(0).shape.back(), sequence = c.place.per_sample / width;
    return {c.place.offset / width, sequence / c.place.context.ranks, sequence, c.weights[0].elements / width, c.place.context};
}

template <class T, class Machine>
void forward_rows(Machine& m, PointwiseKind kind, const OperatorCall& c) {
    const std::int64_t count = c.outputs[0].elements, width = kind == PointwiseKind::bias ? c.output(0).shape[1] : c.output(0).shape.back();
    const T* x = c.inputs[0].as<T>();
    T* y = c.outputs[0].as<T>();
    if (kind == PointwiseKind::bias) return m.matrix(count / width, width, AddRow<T>{{y, width}, x, c.weights[0].as<T>()});
    if (kind == PointwiseKind::add) {
        if (c.inputs.size() > 1) return m.elements(count, AddArrays<T>{{y}, x, c.inputs[1].as<T>()});
        return m.matrix(count / width, width, AddTable<T>{{y, width}, table_of(c), x, c.weights[0].as<T>()});
    }
    if (!c.weights.empty())
        return m.matrix(count / width, width, PutClassToken<T>{{y, width}, x, c.weights[0].as<T>(), count / width / c.samples});
    if (c.inputs.size() == 1) {
        const std::int64_t rows = c.output(0).shape.front();
        return m.matrix(rows, width, SelectRows<T>{{y, width}, x, rows, c.input(0).shape.front()});
    }
    if (std::get<Pointwise>(c.op.kind).head_dim > 0) return forward_shared_columns<T>(m, c);
    const std::int64_t pitch = c.output(0).shape[1];
    std::int64_t at = 0;
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {  // side by side: channels, or columns
        const std::int64_t columns = c.input(i).shape[1];
        m.matrix(count / pitch, columns, CopyColumns<T>{{y + at, pitch}, c.inputs[i].as<T>(), columns});
        at += columns;
    }
}

template <class T, class Machine>
void table_backward(Machine& m, const OperatorCall& c) {
    const std::int64_t count = c.output_gradients[0].elements, width = c.output(0).shape.back();
    const TableRows table = table_of(c);
    const Array sums = m.scratch(table.sequence * width);
    if (table.here < table.sequence) m.clear(sums.reals(), sums.elements);
    m.matrix(table.here, width, SumByPosition<T>{table, c.output_gradients[0].as<T>(), sums.reals(), count / width, width});
    float* to = c.weight_gradients[0].reals();
    if (table.rows >= table.sequence) return m.elements(table.sequence * width, AddElements{{to}, sums.reals()});
    for (std::int64_t row = 0; row < table.rows; ++row) {
        const std::int64_t begin = (row * table.sequence + table.rows - 1) / table.rows;
        const std::int64_t end = ((row + 1) * table.sequence + table.rows - 1) / table.rows;
        if (begin < end) add_column_sums(m, sums.reals() + begin * width, to + row * width, end - begin, width);
    }
}

template <class T, class Machine>
void class_token_backward(Machine& m, const OperatorCall& c) {
    const std::int64_t width = c.output(0).shape.back(), tokens = c.output(0).shape.front() / c.samples, sample = tokens * width;
    const T* dy = c.output_gradients[0].as<T>();
    const Array first = m.scratch(c.samples * width, c.output_gradients[0].element);
    m.matrix(c.samples, width, CopyColumns<T>{{first.as<T>(), width}, dy, sample});
    add_column_sums(m, first.as<T>(), c.weight_gradients[0].reals(), c.samples, width);
    if (c.input_gradients[0])
        m.matrix(c.samples, sample - width, CopyColumns<T>{{c.input_gradients[0].as<T>(), sample - width}, dy + width, sample});
}

template <class T, class Machine>
void backward_rows(Machine& m, PointwiseKind kind, const OperatorCall& c) {
    const std::int64_t count = c.output_gradients[0].elements;
    const T* dy = c.output_gradients[0].as<T>();
    if (kind == PointwiseKind::copy && c.weights.empty()) {
        if (c.op.inputs.size() == 1) {
            const std::int64_t width = c.output(0).shape.back(), rows = c.output(0).shape.front();
            m.clear(c.input_gradients[0].as<T>(), c.input_gradients[0].elements);
            return m.matrix(rows, width, SpreadRows<T>{dy, c.input_gradients[0].as<T>(), width, rows, c.input(0).shape.front()});
        }
        if (std::get<Pointwise>(c.op.kind).head_dim > 0) return backward_shared_columns<T>(m, c);
        const std::int64_t pitch = c.output(0).shape[1];
        std::int64_t at = 0;
        for (std::size_t i = 0; i < c.op.inputs.size(); ++i) {
            const std::int64_t columns = c.input(i).shape[1];
            if (c.input_gradients[i])
                m.matrix(count / pitch, columns, CopyColumns<T>{{c.input_gradients[i].as<T>(), columns}, dy + at, pitch});
            at += columns;
        }
        return;
    }
    if (kind == PointwiseKind::copy) return class_token_backward<T>(m, c);
    if (kind == PointwiseKind::bias) {
        const std::int64_t width = c.output(0).shape[1];
        add_column_sums(m, dy, c.weight_gradients[0].reals(), count / width, width);
    } else {
        table_backward<T>(m, c);  // of two tensors it never gets here: the gradient passes through
    }
    if (c.input_gradients[0]) m.copy(dy, c.input_gradients[0].as<T>(), count);
}

}  // namespace sextant::kernels
