// What each call of ATen computes (docs.pytorch.org, torch.nn.functional).
#include "model/io/torch/tracer.hpp"

#include <algorithm>
#include <numeric>

namespace sextant {
namespace {

double real(std::int64_t n) { return static_cast<double>(n); }

std::int64_t product_of(const std::vector<std::int64_t>& list, std::size_t begin, std::size_t end) {
    return std::accumulate(list.begin() + static_cast<std::ptrdiff_t>(begin), list.begin() + static_cast<std::ptrdiff_t>(end),
                           std::int64_t{1}, std::multiplies<>());
}

// Does an extent begin where the elements of one further inside end?
bool lies_around(std::int64_t outer_stride, std::int64_t extent, std::int64_t stride) {
    return stride == 0 ? outer_stride == 0 : outer_stride % stride == 0 && outer_stride / stride == extent;
}

bool is_contiguous(const TorchTensor& t) {
    std::int64_t stride = 1;
    for (std::size_t i = t.sizes.size(); i-- > 0;) {
        if (t.sizes[i] != 1 && t.strides[i] != stride) return false;
        stride *= t.sizes[i];
    }
    return true;
}

// Can the elements of `t` be counted by other extents where they lie? Extents that lie behind one another are one; each such group must
// be made of whole new extents.
bool can_be_viewed(const TorchTensor& t, const std::vector<std::int64_t>& sizes) {
    std::size_t next = sizes.size();
    for (std::size_t i = t.sizes.size(); i > 0;) {
        std::int64_t group = t.sizes[--i];
        const std::int64_t stride = t.strides[i];
        while (i > 0 && (t.sizes[i - 1] == 1 || t.sizes[i] == 1 || lies_around(t.strides[i - 1], group, stride))) group *= t.sizes[--i];
        while (next > 0 && (group > 1 || sizes[next - 1] == 1)) {
            const std::int64_t size = sizes[--next];
            if (size < 1 || group % size != 0) return false;
            group /= size;
        }
        if (group != 1) return false;
    }
    return true;
}

}  // namespace

// ---- the same elements

void Tracer::view(const TorchCall& call) {
    const std::string input = made_operands(call).front();
    const TorchTensor& from = shape_of(input, call);
    const bool whole = call.outputs.size() == 1 && shape_of(call.outputs.front(), call).elements() == from.elements();
    const bool moves = call.outputs.size() > 1 || shape_of(call.outputs.front(), call).sizes != from.sizes;
    if (moves) run_never("\"" + call.target + "\" may put elements in another order");
    if (whole) return same(call);
    emit(call, Pointwise{.kind = PointwiseKind::view, .elements = real(of_sample(from.elements()))}, {input});
}

void Tracer::reshape(const TorchCall& call) {
    const std::string input = made_operands(call).front();
    const TorchTensor &from = shape_of(input, call), &to = shape_of(call.outputs.front(), call);
    const bool contiguous = call.target.starts_with("aten.contiguous");
    const bool of_samples = to.sizes.size() == 2 && !from.sizes.empty() && to.sizes.front() == from.sizes.front();
    if (contiguous ? !is_contiguous(from) : !can_be_viewed(from, to.sizes)) return copy(call);
    if (!of_samples && to.sizes != from.sizes) run_never("\"" + call.target + "\" may put elements in another order");
    same(call);
}

void Tracer::copy(const TorchCall& call) {
    const TorchTensor& made = shape_of(call.outputs.front(), call);
    const bool channels = call.target.starts_with("aten.cat.") && made.sizes.size() == 4 && integer(call, "dim", 0) == 1;
    if (!channels) run_never("\"" + call.target + "\" puts elements in another order");
    std::vector<std::string> inputs = made_operands(call), constants;
    for (const std::string& operand : names(call, "tensors"))
        if (!value(operand).made) constants.push_back(operand);
    emit(call, Pointwise{.kind = PointwiseKind::copy, .elements = real(of_sample(made.elements()))}, inputs, constants);
}

// ---- one pass over elements

void Tracer::pass(const TorchCall& call, PointwiseKind kind, bool in_place) {
    std::int64_t elements = 0;
    for (const std::string& operand : made_operands(call)) elements = std::max(elements, shape_of(operand, call).elements());
    if (kind == PointwiseKind::mask || kind == PointwiseKind::scale) run_never("what \"" + call.target + "\" computes is not said");
    emit(call, Pointwise{.kind = kind, .elements = real(of_sample(elements)), .in_place = in_place}, made_operands(call),
         constant_operands(call));
}

void Tracer::cast(const TorchCall& call) {
    const TorchTensor &from = shape_of(made_operands(call).front(), call), &to = shape_of(call.outputs.front(), call);
    if (from.data_type == to.data_type) return same(call);
    pass(call, PointwiseKind::cast);
}

void Tracer::add(const TorchCall& call) {
    const std::vector<std::string> operands = made_operands(call);
    if (operands.size() > 1) {
        if (shape_of(operands[0], call).sizes != shape_of(operands[1], call).sizes) run_never("\"" + call.target + "\" repeats an operand");
        if (call.target.starts_with("aten.sub")) run_never("differences do not run");
        return pass(call, PointwiseKind::add);
    }
    run_never("a constant is added whose elements are not in the file");
    pass(call, names(call, "other").empty() ? PointwiseKind::scale : PointwiseKind::bias);
}

void Tracer::multiply(const TorchCall& call) {
    const std::vector<std::string> operands = made_operands(call);
    bool learned = false;
    for (const char* side : {"self", "other"}) learned = learned || !value(name(call, side)).parameters.empty();
    run_never("\"" + call.target + "\" is read for what it costs only");
    pass(call, operands.size() > 1 || learned ? PointwiseKind::multiply : PointwiseKind::scale);
}

void Tracer::divide(const TorchCall& call) {
    const bool by_constant = names(call, "other").empty() || !value(name(call, "other")).made;
    pass(call, by_constant ? PointwiseKind::scale : PointwiseKind::from_input);
}

void Tracer::dropout(const TorchCall& call) {
    const double* fraction = call.argument_as<double>("p");
    if (fraction == nullptr || *fraction <= 0 || *fraction >= 1) return same(call);
    const std::string input = made_operands(call).front();
    Operator& op = emit(
        call,
        Pointwise{.kind = PointwiseKind::dropout, .elements = real(of_sample(shape_of(input, call).elements())), .constant = *fraction},
        {input});
    also(op, ".mask", network_.tensors[op.outputs.front().value].shape, TensorRole::mask);
}

// ---- products

// A product reads rows, or batches of matrices, each in either order, that lie one behind another: what does not is copied.
void Tracer::lay_in_rows(const TorchCall& call, const std::string& operand, std::size_t matrix_dims) {
    TorchTensor outer = shape_of(operand, call);
    if (outer.sizes.size() < matrix_dims + 2) return;
    outer.sizes.resize(outer.sizes.size() - matrix_dims);
    outer.strides.resize(outer.sizes.size());
    if (can_be_viewed(outer, {outer.elements()})) return;
    const TorchTensor& all = shape_of(operand, call);
    Operator copy{.name = call.module + (call.module.empty() ? "copy" : ".copy"),
                  .kind = Pointwise{.kind = PointwiseKind::copy, .elements = real(of_sample(all.elements()))},
                  .inputs = {*value(operand).made},
                  .outputs = {new_tensor("", all)}};
    values_[operand].made = copy.outputs.front();
    append(call.module, std::move(copy));
}

// input [..., k] x weight [n, k]^T + bias [n], of a weight that is a constant.
void Tracer::write_product(const TorchCall& call, const std::string& input, const std::string& weight, const std::string& bias) {
    const TorchTensor &x = shape_of(input, call), &y = shape_of(call.outputs.front(), call);
    if (x.sizes.empty() || y.sizes.empty() || x.sizes.back() < 1 || y.sizes.back() < 1) refuse(call, "a product of nothing");
    const Gemm gemm{.m = of_sample(x.elements()) / x.sizes.back(), .n = y.sizes.back(), .k = x.sizes.back()};
    lay_in_rows(call, input, 1);
    emit(call, gemm, {input}, {weight, bias});
}

void Tracer::linear(const TorchCall& call) {
    const std::string weight = name(call, "weight");
    if (value(weight).made || !value(name(call, "input")).made) return product(call);
    write_product(call, name(call, "input"), weight, name(call, "bias"));
}

// self + a x b
void Tracer::add_product(const TorchCall& call) {
    const std::string a = name(call, call.argument("mat1") != nullptr ? "mat1" : "batch1"),
                      b = name(call, call.argument("mat2") != nullptr ? "mat2" : "batch2");
    if (!value(b).made && value(a).made) return write_product(call, a, b, name(call, "self"));
    product(call);
}

// [..., m, k] x [..., k, n]
void Tracer::product(const TorchCall& call) {
    const std::vector<std::string> operands = made_operands(call);
    const TorchTensor& y = shape_of(call.outputs.front(), call);
    const TorchTensor& x = shape_of(operands.front(), call);
    if (y.sizes.empty() || x.sizes.empty()) refuse(call, "a product of nothing");
    if (operands.size() < 2) {
        std::vector<std::string> constants;
        for (const char* side : {"other", "mat2", "input", "self"})
            if (const std::string c = name(call, side); !c.empty() && !value(c).made) constants.push_back(c);
        return write_product(call, operands.front(), constants.empty() ? std::string() : constants.front(), {});
    }
    run_never("products of two activations are read for what they cost only");
    const std::size_t dims = y.sizes.size();
    const std::int64_t n = dims > 1 ? y.sizes[dims - 1] : 1, m = dims > 1 ? y.sizes[dims - 2] : y.sizes[0];
    const Gemm gemm{.batch = of_sample(product_of(y.sizes, 0, dims > 1 ? dims - 2 : 0)),
                    .m = m,
                    .n = n,
                    .k = std::max<std::int64_t>(1, x.sizes.back()),
                    .weight = false};
    for (const std::string& operand : {operands[0], operands[1]}) lay_in_rows(call, operand, 2);
    emit(call, gemm, {operands[0], operands[1]}).attention_core = true;
}

// "bhid,bhjd->bhij": what both have and the result too is a batch, what both have and the result not is summed over.
void Tracer::einsum(const TorchCall& call) {
    const std::string* written = call.argument_as<std::string>("equation");
    const std::vector<std::string> operands = names(call, "tensors");
    if (written == nullptr || operands.size() != 2) refuse(call, "an einsum of two tensors is known");
    std::string equation = *written;
    std::erase(equation, ' ');
    const std::size_t comma = equation.find(','), arrow = equation.find("->");
    if (comma == equation.npos || arrow == equation.npos || comma > arrow || equation.find('.') != equation.npos)
        refuse(call, "the equation \"" + equation + "\" is not understood");
    const std::string a = equation.substr(0, comma), b = equation.substr(comma + 1, arrow - comma - 1), out = equation.substr(arrow + 2);
    const TorchTensor &x = shape_of(operands[0], call), &y = shape_of(operands[1], call);
    if (a.size() != x.sizes.size() || b.size() != y.sizes.size()) refuse(call, "the equation \"" + equation + "\" is of other tensors");
    Gemm gemm;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const bool in_b = b.find(a[i]) != b.npos, kept = out.find(a[i]) != out.npos;
        (in_b ? kept ? gemm.batch : gemm.k : gemm.m) *= std::max<std::int64_t>(1, x.sizes[i]);
    }
    for (std::size_t i = 0; i < b.size(); ++i)
        if (a.find(b[i]) == a.npos) gemm.n *= std::max<std::int64_t>(1, y.sizes[i]);
    run_never("an einsum is read for what it costs only");
    gemm.weight = !value(operands[0]).made || !value(operands[1]).made;
    // The samples are a batch where both operands have them, else rows.
    const bool swapped = gemm.weight && !value(operands[0]).made;
    if (swapped) std::swap(gemm.m, gemm.n);
    std::int64_t& with_samples = !gemm.weight && gemm.batch % samples_ == 0 ? gemm.batch : gemm.m;
    with_samples = of_sample(with_samples);
    std::vector<std::string> constants;
    if (gemm.weight) constants.push_back(operands[swapped ? 0 : 1]);
    emit(call, gemm, made_operands(call), constants);
}

void Tracer::convolution(const TorchCall& call) {
    const std::string input = name(call, "input"), weight = name(call, "weight");
    const TorchTensor &x = shape_of(input, call), &y = shape_of(call.outputs.front(), call), &w = shape_of(weight, call);
    const std::size_t dims = w.sizes.size() < 2 ? 0 : w.sizes.size() - 2;
    if (dims < 1 || x.sizes.size() != dims + 2 || y.sizes.size() != dims + 2 || value(weight).made || !value(input).made)
        refuse(call, "a convolution whose weight is a constant, of a batch, is known");
    const auto of_side = [&](std::string_view argument, std::size_t side, std::int64_t otherwise) {
        const std::vector<std::int64_t> list = window(call, argument);
        return list.empty() ? otherwise : list[std::min(side, list.size() - 1)];
    };
    const bool transposed = call.target.find("transpose") != call.target.npos || flag(call, "transposed");
    if (dims == 3) {
        for (std::size_t side = 0; side < dims; ++side)
            if (of_side("stride", side, 1) != w.sizes[side + 2]) return void(unknown_.try_emplace(call.target, &call, 1)), same(call);
        // Of patches that lie side by side: a product.
        run_never("patches of volumes do not run");
        const std::int64_t k = product_of(w.sizes, 1, w.sizes.size());
        emit(call, Gemm{.m = of_sample(y.elements()) / std::max<std::int64_t>(1, w.sizes[0]), .n = w.sizes[0], .k = k}, {input},
             {weight, name(call, "bias")});
        return;
    }
    const std::size_t h = dims == 2 ? 2 : 0;  // of a sequence the height is 1
    Convolution c{.batch = of_sample(x.sizes[0]),
                  .in_channels = x.sizes[1],
                  .out_channels = y.sizes[1],
                  .in_h = h > 0 ? x.sizes[h] : 1,
                  .in_w = x.sizes.back(),
                  .out_h = h > 0 ? y.sizes[h] : 1,
                  .out_w = y.sizes.back(),
                  .kernel_h = h > 0 ? w.sizes[h] : 1,
                  .kernel_w = w.sizes.back(),
                  .stride = of_side("stride", dims - 1, 1),
                  .groups = integer(call, "groups", 1),
                  .padding_h = h > 0 ? of_side("padding", 0, 0) : 0,
                  .padding_w = of_side("padding", dims - 1, 0),
                  .dilation = of_side("dilation", dims - 1, 1),
                  .transposed = transposed};
    if (c.batch < 1 || c.groups < 1 || c.stride < 1 || c.dilation < 1 || y.elements() < 1) refuse(call, "a convolution of nothing");
    if (dims == 1) run_never("convolutions along sequences do not run");
    if (dims == 2 && (of_side("stride", 0, 1) != c.stride || of_side("dilation", 0, 1) != c.dilation || call.target.ends_with(".padding")))
        run_never("a convolution has strides, dilations or paddings that do not run");
    emit(call, c, {input}, {weight, name(call, "bias")});
}

// q [..., heads, queries, width], k and v [..., key heads, keys, width]
void Tracer::attention(const TorchCall& call) {
    const std::string query = name(call, "query"), key = name(call, "key"), val = name(call, "value");
    const TorchTensor &q = shape_of(query, call), &k = shape_of(key, call), &v = shape_of(val, call);
    const std::size_t dims = q.sizes.size();
    if (dims < 3 || k.sizes.size() < 3 || v.sizes.size() < 3 || q.elements() < 1 || k.elements() < 1) refuse(call, "attention to nothing");
    run_never("attention is read for what it costs only");
    const std::string mask = name(call, "attn_mask");
    Attention a{.batch = product_of(q.sizes, 0, dims - 3),
                .heads = q.sizes[dims - 3],
                .kv_heads = k.sizes[k.sizes.size() - 3],
                .query_len = q.sizes[dims - 2],
                .key_len = k.sizes[k.sizes.size() - 2],
                .head_dim = q.sizes[dims - 1],
                .value_dim = v.sizes.back(),
                .causal = flag(call, "is_causal") || value(mask).of_positions};
    if (a.batch % samples_ == 0) {
        a.batch /= samples_;
    } else {
        a.heads = of_sample(a.heads);
        a.kv_heads = of_sample(a.kv_heads);
    }
    emit(call, a, {query, key, val}, {mask}).attention_core = true;
}

// ---- over rows, windows, all

void Tracer::softmax(const TorchCall& call) {
    const TorchTensor& x = shape_of(made_operands(call).front(), call);
    std::int64_t dim = integer(call, "dim", -1);
    const auto dims = static_cast<std::int64_t>(x.sizes.size());
    dim += dim < 0 ? dims : 0;
    if (dim < 0 || dim >= dims || x.elements() < 1) refuse(call, "a softmax over nothing");
    run_never("softmax is read for what it costs only");
    const std::int64_t width = x.sizes[static_cast<std::size_t>(dim)];
    emit(call, Softmax{.rows = std::max<std::int64_t>(1, of_sample(x.elements()) / width), .width = width}, made_operands(call))
        .attention_core = true;
}

void Tracer::write_norm(const TorchCall& call, Normalization norm) {
    const std::int64_t vectors = norm.kind == NormKind::rms ? 1 : 2;  // mean and deviation
    Operator& op = emit(call, norm, {made_operands(call).front()}, {name(call, "weight"), name(call, "bias")});
    also(op, ".statistics", {vectors, norm.rows}, TensorRole::statistic);
}

void Tracer::batch_norm(const TorchCall& call) {
    const TorchTensor& x = shape_of(made_operands(call).front(), call);
    if (x.sizes.size() < 2 || x.elements() < 1) refuse(call, "a norm of nothing");
    if (call.target.starts_with("aten.instance_norm"))
        return write_norm(call, {NormKind::group, of_sample(x.sizes[0] * x.sizes[1]), x.elements() / (x.sizes[0] * x.sizes[1])});
    write_norm(call, {NormKind::batch, x.sizes[1], std::max<std::int64_t>(1, of_sample(x.elements()) / x.sizes[1])});
}

// Over the last extents.
void Tracer::row_norm(const TorchCall& call) {
    const TorchTensor& x = shape_of(made_operands(call).front(), call);
    std::int64_t width = 1;
    for (const std::int64_t n : integers(call, "normalized_shape"))
        if (n > 0 && n <= x.elements() / width) width *= n;
    if (x.elements() < 1 || x.elements() % width != 0) refuse(call, "a norm of other rows than there are");
    write_norm(call, {call.target.starts_with("aten.rms_norm") ? NormKind::rms : NormKind::layer,
                      std::max<std::int64_t>(1, of_sample(x.elements()) / width), width});
}

void Tracer::group_norm(const TorchCall& call) {
    const TorchTensor& x = shape_of(made_operands(call).front(), call);
    const std::int64_t groups = integer(call, "num_groups", 1);
    if (x.sizes.empty() || x.elements() < 1 || groups < 1 || groups > x.elements() / x.sizes[0]) refuse(call, "a norm of nothing");
    const std::int64_t rows = x.sizes[0] * groups;
    write_norm(call, {NormKind::group, of_sample(rows), std::max<std::int64_t>(1, x.elements() / rows)});
}

void Tracer::pool(const TorchCall& call) {
    const std::vector<std::int64_t> kernel = window(call, "kernel_size"), stride = window(call, "stride"),
                                    padding = window(call, "padding");
    if (kernel.empty() || kernel.front() < 1 || kernel.back() < 1) refuse(call, "windows of nothing");
    const std::int64_t of_stride = stride.empty() ? kernel.front() : stride.front();
    const bool of_images = call.target.find("1d") == call.target.npos, largest = call.target.find("max") != call.target.npos;
    if (!of_images || kernel.front() != kernel.back() || (!stride.empty() && stride.front() != stride.back()))
        run_never("windows that are not square do not run");
    emit(call,
         Pooling{largest ? PoolingKind::max : PoolingKind::average, kernel.front() * (of_images ? kernel.back() : 1), kernel.front(),
                 std::max<std::int64_t>(1, of_stride), padding.empty() ? 0 : padding.front()},
         {made_operands(call).front()});
}

// Several elements become one: their mean, their sum, the largest.
void Tracer::reduce(const TorchCall& call) {
    const std::vector<std::string> operands = made_operands(call);
    const TorchTensor &x = shape_of(operands.front(), call), &y = shape_of(call.outputs.front(), call);
    if (operands.size() > 1) return pass(call, PointwiseKind::from_input);  // the larger of two
    const std::int64_t window = std::max<std::int64_t>(1, x.elements() / std::max<std::int64_t>(1, y.elements()));
    const bool images = x.sizes.size() == 4 && y.elements() == x.sizes[0] * x.sizes[1] && call.target.find("avg") != call.target.npos;
    if (!images) run_never("\"" + call.target + "\" is read for what it costs only");
    emit(call, Pooling{images ? PoolingKind::global_average : PoolingKind::average, window}, {operands.front()});
}

void Tracer::embedding(const TorchCall& call) {
    const TorchTensor &table = shape_of(name(call, "weight"), call), &indices = shape_of(name(call, "indices"), call);
    if (table.sizes.size() != 2 || !value(name(call, "indices")).made) return copy(call);
    emit(call, Embedding{.tokens = of_sample(indices.elements()), .rows = table.sizes[0], .width = table.sizes[1]}, {name(call, "indices")},
         {name(call, "weight")});
}

void Tracer::resize(const TorchCall& call) {
    const bool nearest = call.target.find("nearest") != call.target.npos;
    if (call.target.find("bicubic") != call.target.npos || call.target.find("1d") != call.target.npos)
        run_never("\"" + call.target + "\" does not run");
    emit(call,
         Pointwise{.kind = nearest ? PointwiseKind::repeat : PointwiseKind::interpolate,
                   .elements = real(of_sample(shape_of(call.outputs.front(), call).elements()))},
         {made_operands(call).front()});
}

void Tracer::cross_entropy(const TorchCall& call) {
    const std::string logits = name(call, "self");
    const TorchTensor& x = shape_of(logits, call);
    if (x.sizes.size() < 2 || x.sizes[1] < 1 || !value(logits).made) refuse(call, "a loss of [rows, classes] is known");
    run_never("the labels of its loss are inputs of its own");
    network_.tensors[value(logits).made->value].role = TensorRole::logits;
    emit(call, CrossEntropy{.rows = std::max<std::int64_t>(1, of_sample(x.elements()) / x.sizes[1]), .classes = x.sizes[1]}, {logits});
}

}  // namespace sextant
