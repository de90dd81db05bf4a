#include "model/cost/convolution.hpp"
#include "model/cost/elementwise.hpp"
#include "model/cost/kernel_lists.hpp"
#include "model/cost/kernel_rules.hpp"
#include "model/cost/kernel_writer.hpp"

#include <algorithm>
#include <utility>

namespace sextant {
namespace {

// Channels of a group below which a grouped convolution is no matrix product any more.
constexpr std::int64_t smallest_matrix = 16;

}  // namespace

Kernel KernelWriter::gemm(const std::string& name, const ProductShape& shape, DataType type, bool backward) const {
    const double batch = static_cast<double>(shape.batch), m = static_cast<double>(shape.m), n = static_cast<double>(shape.n);
    const double k = static_cast<double>(shape.k);
    const Bytes result = batch * m * n * element_size(TensorRole::activation, plan_.precision);
    return matrix_product(name, shape, type, batch * (m * k + k * n) * size_of(type) + result, backward);
}

void KernelWriter::write_operator(const Operator& op, const Gemm& g, BlockKernels& out) const {
    const DataType type = is_narrowed(op) ? product_type_ : unnarrowed_type_;
    if (g.weight && !is_16_bit_or_wider(type)) add_quantization(op, out);
    if (framework_.plain_kernels && op.outputs.size() > 1) return write_products(op, g, type, out);
    out.forward.push_back(gemm(op.name, {g.batch, g.m, g.n, g.k}, type, false));
    if (wants_gradient(op)) out.backward.push_back(gemm(op.name, {g.batch, g.m, g.k, g.n}, type, true));  // of the input
    if (!op.frozen) add_weight_gradient(op, g, g.n, type, output_bytes(op), out);
    if (framework_.plain_kernels && !g.weight) share_among_calls(op, g, out);
}

// The gradient of those columns of the weight, or of the second operand, that made the outputs with these gradients.
void KernelWriter::add_weight_gradient(const Operator& op, const Gemm& g, std::int64_t columns, DataType type, Bytes gradients,
                                       BlockKernels& out) const {
    Kernel k = gemm(op.name, {g.batch, g.k, columns, g.m}, type, true);
    k.weight_gradient = g.weight;
    k.turned = true;
    if (g.weight) accumulate(k);
    out.backward.push_back(std::move(k));
    if (g.weight && op.parameters > static_cast<double>(g.batch * g.k * g.n)) add_bias_gradient(op.name, gradients, out);
}

// The product adds to what earlier micro-batches made, where the framework has it do that.
void KernelWriter::accumulate(Kernel& of_weight) const {
    if (!framework_.fused_gradient_accumulation || !later_micro_batches_add()) return;
    of_weight.epilogue = static_cast<double>(of_weight.batch * of_weight.m * of_weight.n) * bytes_to_accumulate();
    of_weight.bytes += of_weight.epilogue;
}

// A column sum.
void KernelWriter::add_bias_gradient(const std::string& name, Bytes gradients, BlockKernels& out) const {
    push_weight_gradient(out.backward, name, gradients, sum_launches());
    wait(out.backward.back(), waits_of_sums);
}

// Scaled low-precision operands are made by passes of their own: forward from the activation, backward from the incoming gradient,
// twice there because dgrad and wgrad want different layouts (of a frozen weight there is no wgrad). Scales of blocks belong to a
// layout: MXFP8 and NVFP4 are written in both in forward too. NVFP4 is read three times: for the largest value of the tensor, for its
// rows, and through a Hadamard transform for its columns (NVIDIA/TransformerEngine, pytorch/csrc/quantizer.cpp). What is gathered is made
// narrow in parts; a gradient then turned round as a whole.
void KernelWriter::add_quantization(const Operator& op, BlockKernels& out) const {
    const int reads = product_type_ == DataType::nvfp4 ? 3 : 1;
    double outputs = 0;
    for (const TensorId id : op.outputs) outputs += graph_.tensor(id).elements();
    const TensorId in = op.inputs.front(), made = op.outputs.front();
    const Bytes narrow = size_of(product_type_);
    const int layouts = op.frozen ? 1 : 2;
    const double part_in = narrowed_parts_[in.value], part_out = narrowed_parts_[made.value];
    const Bytes written = (narrows_in_blocks() ? layouts : 1.0) * graph_.tensor(in).elements() * narrow;
    // What a gate inside the products hands on, or back, is written narrow to begin with.
    const auto read = [&](TensorId first, Bytes all) { return inside_products_[first.value] ? Bytes{} : reads * all; };
    const bool turns = part_out < 1 && layouts > 1 && !narrows_in_blocks();
    const Bytes gradients = part_out * (read(made, output_bytes(op)) + (turns ? 1.0 : layouts) * outputs * narrow);
    push_memory(out.forward, op.name + ".quantize", part_in * (read(in, input_bytes(op)) + written), false, reads);
    push_memory(out.backward, op.name + ".quantize", gradients + (turns ? 2.0 : 0.0) * outputs * narrow, true, reads + (turns ? 1 : 0));
}

Kernel KernelWriter::convolution(const Operator& op, const Convolution& c) const {
    const std::int64_t pixels = c.batch * c.out_h * c.out_w;
    const std::int64_t in = c.in_channels / c.groups, to = c.out_channels / c.groups;
    Kernel k;
    k.kind = KernelKind::convolution;
    k.name = op.name;
    k.type = product_type_;
    k.batch = c.groups;
    k.m = pixels;
    k.n = to;
    k.k = in * c.kernel_h * c.kernel_w;
    k.flops = sextant::forward_flops(c);
    k.bytes = input_bytes(op) + output_bytes(op) + op.parameters * size_of(product_type_);
    k.window = window_of(c);
    k.strided = c.stride > 1;
    if (framework_.plain_kernels && c.in_channels <= 4) k.outputs = static_cast<double>(pixels * c.out_channels);
    k.channels = in;
    k.direct = c.groups > 1 && std::min(in, to) < smallest_matrix;
    return k;
}

// The gradient of the images is a convolution with as many channels as the outputs have.
Kernel KernelWriter::image_gradient(const Kernel& forward, const Convolution& c) {
    Kernel k = forward;
    k.backward = true;
    if (c.stride == 1) k.m = c.batch * c.in_h * c.in_w;
    k.n = forward.channels;
    k.k = forward.n * c.kernel_h * c.kernel_w;
    k.channels = forward.n;
    return k;
}

// The gradient of the filters is a sum over pixels.
Kernel KernelWriter::filter_gradient(const Kernel& forward) const {
    Kernel k = forward;
    k.backward = true;
    k.weight_gradient = true;
    std::swap(k.m, k.k);
    if (filter_gradients_on_vector_units()) k.type = DataType::fp32;  // operands stay as narrow as they are
    return k;
}

void KernelWriter::write_operator(const Operator& op, const Convolution& c, BlockKernels& out) const {
    // What a transposed convolution does forward, another does backward, and the reverse.
    const Convolution of = underlying(c);
    const Kernel result = convolution(op, of), gradient = image_gradient(result, of);
    out.forward.push_back(c.transposed ? gradient : result);
    const bool has_bias = framework_.plain_kernels && op.parameters > static_cast<double>(of.out_channels * result.k);
    if (has_bias) push_memory(out.forward, op.name + ".bias", 2.0 * output_bytes(op), false);
    // Nobody wants the gradient of images that are data, whichever block this is.
    const bool makes_image_gradient = c.in_channels > 4 && wants_gradient(op);
    if (makes_image_gradient) out.backward.push_back(c.transposed ? result : gradient);
    out.backward.push_back(filter_gradient(result));
    if (has_bias) add_bias_gradient(op.name, output_bytes(op), out);
    if (framework_.rearranges_filters && !is_made_as_product(of)) add_filter_layouts(op, of, makes_image_gradient, out);
    if (!result.direct) add_image_layouts(op, makes_image_gradient, out);
}

bool KernelWriter::is_made_as_product(const Convolution& c) const {
    const std::int64_t pixels = c.batch * c.out_h * c.out_w;
    return is_product_of_pixels(c) && pixels <= framework_.products_of_pixels && plan_.precision.compute == DataType::fp32;
}

// Filters of one pixel lie as plain kernels want them. oneDNN wants any of them in blocks of channels.
void KernelWriter::add_filter_layouts(const Operator& op, const Convolution& c, bool makes_image_gradient, BlockKernels& out) const {
    const bool lie_as_wanted = framework_.plain_kernels && c.kernel_h * c.kernel_w == 1;
    const auto filters = static_cast<double>(c.out_channels * (c.in_channels / c.groups) * c.kernel_h * c.kernel_w);
    const Bytes there = size_of(product_type_), gradient = size_of(plan_.precision.gradient_type());
    const auto lay_out = [&](std::vector<Kernel>& list, bool backward) {
        push_memory(list, op.name + ".filters", 2.0 * filters * there, backward);
        list.back().exponentials = filters * laid_out_filter;
        wait(list.back(), waits_of_filters);
    };
    if (!lie_as_wanted) lay_out(out.forward, false);
    if (!lie_as_wanted && makes_image_gradient) lay_out(out.backward, true);
    push_weight_gradient(out.backward, op.name + ".filters", filters * (there + 2.0 * gradient));
    out.backward.back().exponentials = filters * laid_back_filter;
    wait(out.backward.back(), waits_of_filter_gradients);
}

// Tensor units read images of 16 bits with their channels last (TF32 has kernels for either layout). Where the framework keeps them first,
// each call copies what it reads and what it writes, to NHWC and back to NCHW, as if no other had.
void KernelWriter::add_image_layouts(const Operator& op, bool makes_image_gradient, BlockKernels& out) const {
    const bool channels_last = plan_.channels_last.value_or(framework_.channels_last);
    if (channels_last || unit_ != ComputeUnit::tensor || !multiplies_16_bits()) return;
    const Bytes copied = 2.0 * (input_bytes(op) + output_bytes(op));
    push_memory(out.forward, op.name + ".layout", copied, false, 2);
    if (makes_image_gradient) push_memory(out.backward, op.name + ".layout", copied, true, 2);
    if (!filter_gradients_on_vector_units()) push_memory(out.backward, op.name + ".layout", copied, true, 2);
}

void KernelWriter::write_operator(const Operator& op, const Attention& a, BlockKernels& out) const {
    if (framework_.plain_kernels && size_of(unnarrowed_type_) > Bytes::from_si(2)) return write_scores(op, a, out);
    Kernel k;
    k.kind = KernelKind::attention;
    k.batch = a.batch * a.heads;
    k.m = a.query_len;
    k.n = a.key_len;
    k.k = a.head_dim;
    k.type = unnarrowed_type_;
    k.flops = sextant::forward_flops(a);
    k.bytes = input_bytes(op) + output_bytes(op);
    k.computed = computed_scores(a);
    k.name = op.name;
    out.forward.push_back(k);
    k.flops = sextant::backward_flops(a);
    k.bytes = 2.5 * k.bytes;
    k.backward = true;
    k.launches = 3;  // row sums of dO * O, the kernel, conversion of dQ
    out.backward.push_back(std::move(k));
}

// A sum is read and written where the product alone would be written.
Bytes KernelWriter::bytes_to_accumulate() const {
    const Bytes product = element_size(TensorRole::activation, plan_.precision);
    return 2.0 * (framework_.gradients_in_fp32 ? size_of(DataType::fp32) : product) - product;
}

}  // namespace sextant
