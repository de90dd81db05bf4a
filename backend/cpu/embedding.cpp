// Rows of a table. Ids whose rows another rank holds give zeros.
#include "backend/cpu/operators.hpp"

#include <algorithm>

namespace sextant::cpu {
namespace {

// Calls work(token, row of the table here).
template <class Work>
void for_each_here(const OperatorCall& c, const Work& work) {
    const std::int64_t* ids = c.inputs[0].indices();
    for (std::int64_t t = 0; t < c.inputs[0].elements; ++t) {
        const std::int64_t row = ids[t] - c.first_row;
        if (row >= 0 && row < c.valid_rows) work(t, row);
    }
}

}  // namespace

void forward(Engine&, const Embedding& e, const OperatorCall& c) {
    with_type(c.outputs[0].element, [&]<class Value>() {
        std::fill_n(c.outputs[0].as<Value>(), c.outputs[0].elements, 0.0F);
        for_each_here(c, [&](std::int64_t token, std::int64_t row) {
            std::copy_n(c.weights[0].as<Value>() + row * e.width, e.width, c.outputs[0].as<Value>() + token * e.width);
        });
    });
}

void backward(Engine&, const Embedding& e, const OperatorCall& c) {
    for_each_here(c, [&](std::int64_t token, std::int64_t row) {
        add_column_sums(c.output_gradients[0].part(token * e.width, e.width), c.weight_gradients[0].reals() + row * e.width, 1, e.width);
    });
}

}  // namespace sextant::cpu
