// Operators on the rows of the residual stream, and sums.
#include "backend/cpu/operators.hpp"

#include <algorithm>

namespace sextant::cpu {
namespace {

// The row of a learned table that is added to row r of the serial residual stream. A table with a row for each position is read by
// position. One with fewer rows (segments) cuts each sample into as many even parts: sentence A, sentence B.
class TableRow {
public:
    explicit TableRow(const OperatorCall& c)
        : place_(c.place),
          width_(c.output(0).shape.back()),
          sequence_(c.place.per_sample / width_),
          rows_(c.weights[0].elements / width_) {}
    [[nodiscard]] std::int64_t of(std::int64_t row) const {
        const std::int64_t position = place_.of(row * width_) / width_ % sequence_;
        return rows_ < sequence_ ? position * rows_ / sequence_ : position;
    }

private:
    const Place& place_;
    std::int64_t width_, sequence_, rows_;
};

void forward_add(const OperatorCall& c) {
    const std::int64_t count = c.outputs[0].elements, width = c.output(0).shape.back();
    const float* a = c.inputs[0].reals();
    float* y = c.outputs[0].reals();
    if (c.inputs.size() > 1) {
        const float* b = c.inputs[1].reals();
        for (std::int64_t i = 0; i < count; ++i) y[i] = a[i] + b[i];
        return;
    }
    const TableRow table(c);
    for (std::int64_t r = 0; r < count / width; ++r) {
        const float* b = c.weights[0].reals() + table.of(r) * width;
        for (std::int64_t i = 0; i < width; ++i) y[r * width + i] = a[r * width + i] + b[i];
    }
}

void backward_table(const OperatorCall& c) {
    const std::int64_t count = c.output_gradients[0].elements, width = c.output(0).shape.back();
    const float* dy = c.output_gradients[0].reals();
    const TableRow table(c);
    for (std::int64_t r = 0; r < count / width; ++r) {
        float* sum = c.weight_gradients[0].reals() + table.of(r) * width;
        for (std::int64_t i = 0; i < width; ++i) sum[i] += dy[r * width + i];
    }
    if (c.input_gradients[0]) std::copy_n(dy, count, c.input_gradients[0].reals());
}

// The class token goes before the other tokens of each sample.
struct ClassToken {
    std::int64_t width, tokens;  // with it
    explicit ClassToken(const OperatorCall& c) : width(c.output(0).shape.back()), tokens(c.output(0).shape.front() / c.samples) {}
};

void forward_class_token(const OperatorCall& c) {
    const ClassToken t(c);
    for (std::int64_t s = 0; s < c.samples; ++s) {
        float* y = c.outputs[0].reals() + s * t.tokens * t.width;
        std::copy_n(c.weights[0].reals(), t.width, y);
        std::copy_n(c.inputs[0].reals() + s * (t.tokens - 1) * t.width, (t.tokens - 1) * t.width, y + t.width);
    }
}

void backward_class_token(const OperatorCall& c) {
    const ClassToken t(c);
    for (std::int64_t s = 0; s < c.samples; ++s) {
        const float* dy = c.output_gradients[0].reals() + s * t.tokens * t.width;
        add_column_sums(dy, c.weight_gradients[0].reals(), 1, t.width);
        if (c.input_gradients[0])
            std::copy_n(dy + t.width, (t.tokens - 1) * t.width, c.input_gradients[0].reals() + s * (t.tokens - 1) * t.width);
    }
}

// Some rows, spread evenly: the first of each sample, or those whose tokens are predicted.
struct Selection {
    std::int64_t width, rows, of;
    explicit Selection(const OperatorCall& c)
        : width(c.output(0).shape.back()), rows(c.output(0).shape.front()), of(c.input(0).shape.front()) {}
    [[nodiscard]] std::int64_t begin(std::int64_t row) const { return row * of / rows * width; }
};

void forward_selection(const OperatorCall& c) {
    const Selection s(c);
    for (std::int64_t r = 0; r < s.rows; ++r) std::copy_n(c.inputs[0].reals() + s.begin(r), s.width, c.outputs[0].reals() + r * s.width);
}

void backward_selection(const OperatorCall& c) {
    const Selection s(c);
    std::fill_n(c.input_gradients[0].reals(), c.input_gradients[0].elements, 0.0F);
    for (std::int64_t r = 0; r < s.rows; ++r)
        std::copy_n(c.output_gradients[0].reals() + r * s.width, s.width, c.input_gradients[0].reals() + s.begin(r));
}

// Side by side: channels, or columns. Calls work(input, its width, where it begins in the row of the output).
template <class Work>
void for_each_joined(const OperatorCall& c, const Work& work) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < c.op.inputs.size(); ++i) {
        const std::int64_t width = c.input(i).shape[1];
        work(i, width, at);
        at += width;
    }
}

void forward_join(const OperatorCall& c) {
    const std::int64_t pitch = c.output(0).shape[1], rows = c.outputs[0].elements / pitch;
    for_each_joined(c, [&](std::size_t i, std::int64_t width, std::int64_t at) {
        for (std::int64_t r = 0; r < rows; ++r) std::copy_n(c.inputs[i].reals() + r * width, width, c.outputs[0].reals() + r * pitch + at);
    });
}

void backward_join(const OperatorCall& c) {
    const std::int64_t pitch = c.output(0).shape[1], rows = c.output_gradients[0].elements / pitch;
    for_each_joined(c, [&](std::size_t i, std::int64_t width, std::int64_t at) {
        for (std::int64_t r = 0; c.input_gradients[i] && r < rows; ++r)
            std::copy_n(c.output_gradients[0].reals() + r * pitch + at, width, c.input_gradients[i].reals() + r * width);
    });
}

// Of each head its columns of the first input, and behind them the second, which all heads share.
struct SharedColumns {
    std::int64_t rows, head, shared, own, heads;
    explicit SharedColumns(const OperatorCall& c)
        : rows(c.output(0).shape.front()),
          head(std::get<Pointwise>(c.op.kind).head_dim),
          shared(c.input(1).shape.back()),
          own(head - shared),
          heads(c.output(0).shape.back() / head) {}
    // Calls work(row, where the head's own columns lie in the first input, where its columns lie in the output).
    template <class Work>
    void for_each_head(const Work& work) const {
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t h = 0; h < heads; ++h) work(r, (r * heads + h) * own, (r * heads + h) * head);
    }
};

void forward_shared_columns(const OperatorCall& c) {
    const SharedColumns s(c);
    s.for_each_head([&](std::int64_t row, std::int64_t from, std::int64_t to) {
        float* head = c.outputs[0].reals() + to;
        std::copy_n(c.inputs[0].reals() + from, s.own, head);
        std::copy_n(c.inputs[1].reals() + row * s.shared, s.shared, head + s.own);
    });
}

void backward_shared_columns(const OperatorCall& c) {
    const SharedColumns s(c);
    const Array &own = c.input_gradients[0], &shared = c.input_gradients[1];
    if (shared) std::fill_n(shared.reals(), shared.elements, 0.0F);
    s.for_each_head([&](std::int64_t row, std::int64_t to, std::int64_t from) {
        const float* head = c.output_gradients[0].reals() + from;
        if (own) std::copy_n(head, s.own, own.reals() + to);
        for (std::int64_t i = 0; shared && i < s.shared; ++i) shared.reals()[row * s.shared + i] += head[s.own + i];
    });
}

bool shares_columns(const OperatorCall& c) { return std::get<Pointwise>(c.op.kind).head_dim > 0; }

PointwiseKind kind_of(const OperatorCall& c) { return std::get<Pointwise>(c.op.kind).kind; }

}  // namespace

void add_bias(const Array& x, const Array& bias, const Array& y) {
    with_type(y.element, [&]<class Value>() {
        const auto *from = x.as<Value>(), *row = bias.as<Value>();
        auto* to = y.as<Value>();
        for (std::int64_t i = 0; i < y.elements; i += bias.elements)
            for (std::int64_t j = 0; j < bias.elements; ++j) to[i + j] = from[i + j] + row[j];
    });
}

void forward_rows(const OperatorCall& c) {
    switch (kind_of(c)) {
        case PointwiseKind::add: return forward_add(c);
        case PointwiseKind::bias: return add_bias(c.inputs[0], c.weights[0], c.outputs[0]);
        default:
            if (!c.weights.empty()) return forward_class_token(c);
            if (c.inputs.size() == 1) return forward_selection(c);
            return shares_columns(c) ? forward_shared_columns(c) : forward_join(c);
    }
}

void backward_rows(const OperatorCall& c) {
    switch (kind_of(c)) {
        case PointwiseKind::add:  // of two tensors it never gets here: the gradient passes through
            return backward_table(c);
        case PointwiseKind::bias: {
            const std::int64_t width = c.output(0).shape[1], count = c.output_gradients[0].elements;
            add_column_sums(c.output_gradients[0].reals(), c.weight_gradients[0].reals(), count / width, width);
            if (c.input_gradients[0]) std::copy_n(c.output_gradients[0].reals(), count, c.input_gradients[0].reals());
            return;
        }
        default:
            if (!c.weights.empty()) return backward_class_token(c);
            if (c.op.inputs.size() == 1) return backward_selection(c);
            return shares_columns(c) ? backward_shared_columns(c) : backward_join(c);
    }
}

}  // namespace sextant::cpu
