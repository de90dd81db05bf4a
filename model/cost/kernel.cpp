#include "model/cost/kernel.hpp"

#include "model/cost/convolution.hpp"
#include "model/cost/elementwise.hpp"
#include "model/cost/fusion.hpp"
#include "model/cost/kernel_lists.hpp"
#include "model/cost/kernel_rules.hpp"
#include "model/cost/scans.hpp"
#include "model/plan/framework_defaults.hpp"
#include "model/plan/recompute.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Channels of a group below which a grouped convolution is no matrix product any more.
constexpr std::int64_t smallest_matrix = 16;

// Walks one graph and appends kernels. Holds what every rule needs to know.
class KernelWriter {
public:
    KernelWriter(const OperatorGraph& graph, BlockRole role, const Plan& plan, const Framework& framework, bool reads_data,
                 ComputeUnit unit)
        : graph_(graph),
          role_(role),
          plan_(plan),
          framework_(framework),
          unit_(unit),
          product_type_(product_type(plan.precision, role)),
          unnarrowed_type_(unnarrowed_type(plan.precision, role)),
          readers_(count_readers(graph)),
          chains_(fuse(graph, framework, plan.precision.compute, readers_)),
          gathered_again_(find_gathered_again(graph)),
          inside_products_(find_inside_products(graph, framework, product_type_)),
          wanted_(find_wanted(graph, reads_data)) {}

    void write(BlockKernels& out) const {
        std::vector<BlockKernels> parts;
        parts.reserve(chains_.size());
        for (const FusedChain& chain : chains_) parts.push_back(write_chain(chain));
        for (BlockKernels& part : parts) {
            append(part.forward, part.forward_exchanges, out.forward, out.forward_exchanges);
            append(part.recompute, part.recompute_exchanges, out.recompute, out.recompute_exchanges);
        }
        for (auto part = parts.rbegin(); part != parts.rend(); ++part)
            append(part->backward, part->backward_exchanges, out.backward, out.backward_exchanges);
        for (const TensorId id : graph_.inputs()) add_gradient_sum(id, out.backward);
    }

private:
    [[nodiscard]] Bytes bytes_of(TensorId id) const {
        const Tensor& t = graph_.tensor(id);
        return t.elements() * element_size(t.role, plan_.precision);
    }
    [[nodiscard]] Bytes sum_bytes(const std::vector<TensorId>& ids) const {
        Bytes sum;
        for (const TensorId id : ids) sum += bytes_of(id);
        return sum;
    }
    [[nodiscard]] Bytes input_bytes(const Operator& op) const { return sum_bytes(op.inputs); }
    [[nodiscard]] Bytes output_bytes(const Operator& op) const { return sum_bytes(op.outputs); }

    // What one chain runs in each phase.
    [[nodiscard]] BlockKernels write_chain(const FusedChain& chain) const {
        BlockKernels out;
        prepare_chain(chain, out);
        const Operator& first = graph_.operators()[chain.operators.front()];
        const auto casts = std::ssize(out.forward);  // made once for forward and recompute
        if (chain.operators.size() > 1) {
            push_memory(out.forward, first.name, chain_bytes(chain, false), false);
            push_memory(out.backward, first.name, chain_bytes(chain, true), true);
        } else {
            std::visit([&](const auto& kind) { write_operator(first, kind, out); }, first.kind);
        }
        add_work(chain, false, out.forward);
        add_work(chain, true, out.backward);
        if (role_ == BlockRole::layer && is_recomputed(first, plan_)) {  // only layers have checkpoints
            out.recompute.assign(out.forward.begin() + casts, out.forward.end());
            out.recompute_exchanges = out.forward_exchanges;
        }
        for (const std::size_t i : chain.operators) finish_weight_gradient(graph_.operators()[i], out.backward);
        if (!is_differentiated(chain)) out.backward.clear(), out.backward_exchanges.clear();
        return out;
    }

    // What the operators of a chain compute on elements, to its last kernel.
    void add_work(const FusedChain& chain, bool backward, std::vector<Kernel>& kernels) const {
        for (const std::size_t i : chain.operators)
            if (const double work = elementwise_work(graph_.operators()[i].kind, backward); work > 0 && !kernels.empty())
                kernels.back().exponentials += work;
    }

    // What comes before the chain's own kernels: forward its weights are cast; backward the gradients that its readers leave are summed,
    // and what it read of other ranks' inputs is gathered again.
    void prepare_chain(const FusedChain& chain, BlockKernels& out) const {
        for (const std::size_t i : chain.operators) {
            const Operator& op = graph_.operators()[i];
            if (casts_weights() && op.parameters > 0) push_memory(out.forward, op.name + ".cast", op.parameters * cast_bytes(), false);
            for (const TensorId id : op.outputs) add_gradient_sum(id, out.backward);
        }
        for (const std::size_t i : chain.operators)
            for (const std::size_t exchange : gathered_again_[i]) {
                const Operator& op = graph_.operators()[exchange];
                const auto& e = std::get<Exchange>(op.kind);
                out.backward_exchanges.push_back(
                    {ExchangeKind::all_gather, e.group, exchange_bytes(op, e), out.backward.size(), feeds_weights_alone(graph_, op)});
            }
    }

    static bool has_gradient(TensorRole role) { return role == TensorRole::activation || role == TensorRole::logits; }
    // A chain reads what comes from outside it and writes what is used outside it or kept for backward. Going back it reads the
    // gradients of what it handed on and what was kept, and writes the gradients of what it read.
    [[nodiscard]] Bytes chain_bytes(const FusedChain& chain, bool backward) const {
        Bytes traffic = sum_bytes(chain.inputs);
        for (const TensorId id : chain.outputs)
            if (!backward || has_gradient(graph_.tensor(id).role)) traffic += bytes_of(id);
        return traffic + sum_bytes(backward ? chain.kept : chain.saved);
    }

    // Does a gradient come this far? Not to where only frozen parameters stand. Each operator of a chain reads the one before it.
    [[nodiscard]] bool is_differentiated(const FusedChain& chain) const {
        return wanted_[graph_.operators()[chain.operators.back()].outputs.front().value] != 0;
    }

    // Of what it reads. An operator of two operands wants both or none.
    [[nodiscard]] bool wants_gradient(const Operator& op) const { return wanted_[op.inputs.front().value] != 0; }

    // --- matrix work ---------------------------------------------------------------------------------------------------

    [[nodiscard]] Kernel gemm(const std::string& name, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, DataType type,
                              bool backward) const {
        const double b = static_cast<double>(batch), dm = static_cast<double>(m), dn = static_cast<double>(n), dk = static_cast<double>(k);
        const Bytes result = b * dm * dn * element_size(TensorRole::activation, plan_.precision);
        return matrix_product(name, batch, m, n, k, type, b * (dm * dk + dk * dn) * size_of(type) + result, backward);
    }

    void write_operator(const Operator& op, const Gemm& g, BlockKernels& out) const {
        const DataType type = is_narrowed(op) ? product_type_ : unnarrowed_type_;
        if (g.weight && !is_16_bit_or_wider(type)) add_quantization(op, out);
        out.forward.push_back(gemm(op.name, g.batch, g.m, g.n, g.k, type, false));
        if (wants_gradient(op)) out.backward.push_back(gemm(op.name, g.batch, g.m, g.k, g.n, type, true));  // of the input
        if (op.frozen) return;
        Kernel of_weight = gemm(op.name, g.batch, g.k, g.n, g.m, type, true);  // gradient of the weight or second operand
        of_weight.weight_gradient = g.weight;
        of_weight.turned = true;
        if (g.weight && framework_.fused_gradient_accumulation && later_micro_batches_add()) {
            of_weight.epilogue = static_cast<double>(g.batch * g.k * g.n) * bytes_to_accumulate();
            of_weight.bytes += of_weight.epilogue;
        }
        out.backward.push_back(std::move(of_weight));
        if (g.weight && op.parameters > static_cast<double>(g.batch * g.k * g.n))  // a bias: its gradient is a column sum
            push_weight_gradient(out.backward, op.name, output_bytes(op));
    }

    // Scaled low-precision operands are made by passes of their own: forward from the activation, backward from the incoming gradient,
    // twice there because dgrad and wgrad want different layouts (of a frozen weight there is no wgrad). Scales of blocks belong to a
    // layout: MXFP8 and NVFP4 are written in both in forward too. NVFP4 is read three times: for the largest value of the tensor, for its
    // rows, and through a Hadamard transform for its columns (NVIDIA/TransformerEngine, pytorch/csrc/quantizer.cpp).
    void add_quantization(const Operator& op, BlockKernels& out) const {
        const bool in_blocks = product_type_ == DataType::mxfp8 || product_type_ == DataType::nvfp4;
        const int reads = product_type_ == DataType::nvfp4 ? 3 : 1;
        double outputs = 0;
        for (const TensorId id : op.outputs) outputs += graph_.tensor(id).elements();
        const Bytes narrow = size_of(product_type_);
        const double layouts = op.frozen ? 1 : 2;
        const Bytes written = (in_blocks ? layouts : 1.0) * graph_.tensor(op.inputs.front()).elements() * narrow;
        // What a gate inside the products hands on, or back, is written narrow to begin with.
        const auto read = [&](TensorId first, Bytes all) { return inside_products_[first.value] ? Bytes{} : reads * all; };
        push_memory(out.forward, op.name + ".quantize", read(op.inputs.front(), input_bytes(op)) + written, false, reads);
        push_memory(out.backward, op.name + ".quantize", read(op.outputs.front(), output_bytes(op)) + layouts * outputs * narrow, true,
                    reads);
    }

    void write_operator(const Operator& op, const Convolution& c, BlockKernels& out) const {
        const std::int64_t pixels = c.batch * c.out_h * c.out_w, window = c.kernel_h * c.kernel_w;
        const std::int64_t in = c.in_channels / c.groups, to = c.out_channels / c.groups;
        Kernel k;
        k.kind = KernelKind::convolution;
        k.type = product_type_;
        k.batch = c.groups;
        k.flops = sextant::forward_flops(c);
        k.bytes = input_bytes(op) + output_bytes(op) + op.parameters * size_of(product_type_);
        k.window = window_of(c);
        k.strided = c.stride > 1;
        k.channels = in;
        k.direct = c.groups > 1 && std::min(in, to) < smallest_matrix;
        k.name = op.name;
        k.m = pixels, k.n = to, k.k = in * window;
        out.forward.push_back(k);
        k.backward = true;
        // Nobody wants the gradient of images, whichever block this is.
        const bool makes_input_gradient = c.in_channels > 4 && wants_gradient(op);
        if (makes_input_gradient) {
            k.m = c.stride == 1 ? c.batch * c.in_h * c.in_w : pixels, k.n = in, k.k = to * window;
            k.channels = to;
            out.backward.push_back(k);
        }
        k.m = in * window, k.n = to, k.k = pixels;
        k.channels = in;
        k.weight_gradient = true;
        out.backward.push_back(k);
        if (!plan_.channels_last.value_or(framework_.channels_last) && unit_ == ComputeUnit::tensor && !k.direct &&
            size_of(product_type_) == Bytes::from_si(2)) {  // TF32 has kernels for either
            // From NCHW to NHWC and back: each call copies what it reads and what it writes, as if no other had.
            const Bytes copied = 2.0 * (input_bytes(op) + output_bytes(op));
            push_memory(out.forward, op.name + ".layout", copied, false, 2);
            if (makes_input_gradient) push_memory(out.backward, op.name + ".layout", copied, true, 2);
            push_memory(out.backward, op.name + ".layout", copied, true, 2);  // for the gradient of the filters
        }
    }

    void write_operator(const Operator& op, const Attention& a, BlockKernels& out) const {
        Kernel k;
        k.kind = KernelKind::attention;
        k.batch = a.batch * a.heads, k.m = a.query_len, k.n = a.key_len, k.k = a.head_dim;
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

    void write_operator(const Operator& op, const Scan auto& s, BlockKernels& out) const {
        add_scan(op, s, unnarrowed_type_, plan_.precision, out);
    }

    // --- memory-bound work: passes over the operands ---------------------------------------------------------------------

    // Autocast runs softmax and layer normalisation in fp32: their operand is cast up before and down after, both ways
    // (PyTorch documentation, torch.amp, "CUDA ops that can autocast to float32").
    [[nodiscard]] bool runs_in_fp32() const {
        return casts_each_use(plan_, framework_) && size_of(plan_.precision.activation) < size_of(DataType::fp32);
    }
    void add_wide(const std::string& name, TensorId operand, double forward_passes, double backward_passes, int backward_launches,
                  BlockKernels& out) const {
        const double elements = graph_.tensor(operand).elements();
        const Bytes narrow = size_of(plan_.precision.activation), wide = runs_in_fp32() ? size_of(DataType::fp32) : narrow;
        push_memory(out.forward, name, forward_passes * elements * wide, false);
        push_memory(out.backward, name, backward_passes * elements * wide, true, backward_launches);
        if (!runs_in_fp32()) return;
        push_memory(out.forward, name + ".cast", 2 * elements * (narrow + wide), false, 2);
        push_memory(out.backward, name + ".cast", 2 * elements * (narrow + wide), true, 2);
    }

    void write_operator(const Operator& op, const Normalization& n, BlockKernels& out) const {
        if (n.kind == NormKind::batch) {
            // Training reads its input for the statistics and again to normalise, inference has these already; backward likewise for two
            // operands.
            const Bytes x = bytes_of(op.inputs.front());
            push_memory(out.forward, op.name, (plan_.forward_only ? 1.0 : 2.0) * x + output_bytes(op), false);
            push_memory(out.backward, op.name, 5.0 * x, true);
        } else {
            // The gate is read as well, and its gradient written; the gain's gradient is reduced by a second kernel.
            add_wide(op.name, op.inputs.front(), n.gated ? 3 : 2, n.gated ? 5 : 3, 2, out);
        }
    }
    void write_operator(const Operator& op, const SequenceConvolution&, BlockKernels& out) const {
        push_memory(out.forward, op.name, input_bytes(op) + output_bytes(op), false);
        push_memory(out.backward, op.name, 2.0 * input_bytes(op) + output_bytes(op), true);
    }
    void write_operator(const Operator& op, const Softmax&, BlockKernels& out) const {
        if (!runs_in_fp32() || plan_.precision.activation != DataType::fp16) return add_wide(op.name, op.inputs.front(), 2, 3, 1, out);
        // PyTorch's softmax widens FP16 as it reads it, and narrows its gradient as it writes it. The casts on the other side are left.
        const double elements = graph_.tensor(op.inputs.front()).elements();
        const Bytes narrow = size_of(DataType::fp16), wide = size_of(DataType::fp32);
        push_memory(out.forward, op.name, elements * (narrow + wide), false);
        push_memory(out.forward, op.name + ".cast", elements * (wide + narrow), false);
        push_memory(out.backward, op.name, elements * (2.0 * wide + narrow), true);
        push_memory(out.backward, op.name + ".cast", elements * (narrow + wide), true);
    }
    // GPT-OSS's gate where no kernel has it whole. Elements written and read for each of the result, forward: a bias for each expert, times
    // the router's weight, added and put together again 12, two limits 4, x sigmoid(1.702 x) 7, + 1, the product, times the router's weight
    // in FP32 and back 11. Backward: the last of these 11, the product 6, the sigmoid 14, limits with their masks 12, halves put together
    // 8, the bias and its sum 12.
    void write_gate_in_passes(const Operator& op, BlockKernels& out) const {
        const Bytes result = output_bytes(op);
        push_memory(out.forward, op.name, 34.0 * result, false, 14);
        push_memory(out.backward, op.name, 63.0 * result, true, 26);
    }
    void write_operator(const Operator& op, const Pointwise& p, BlockKernels& out) const {
        const bool whole = framework_.fuses_clamped_gate || framework_.fusion_in(plan_.precision.compute) == Fusion::compiler;
        if (p.kind == PointwiseKind::clamped_gate && !whole) return write_gate_in_passes(op, out);
        if (inside_products_[op.outputs.front().value]) return push_memory(out.backward, op.name, input_bytes(op), true);
        push_memory(out.forward, op.name, input_bytes(op) + output_bytes(op), false);
        switch (p.kind) {
            case PointwiseKind::add:
                return;  // gradients pass through; sums at forks are counted at the fork
            case PointwiseKind::bias:
                return push_weight_gradient(out.backward, op.name, output_bytes(op));
            case PointwiseKind::dropout:  // gradient and mask in, gradient out
            case PointwiseKind::scale:
            case PointwiseKind::mask:
            case PointwiseKind::cast:
            case PointwiseKind::copy:
            case PointwiseKind::rotary:
                return push_memory(out.backward, op.name, input_bytes(op) + output_bytes(op), true);
            default:
                return push_memory(out.backward, op.name, 2.0 * input_bytes(op) + output_bytes(op), true);
        }
    }
    void write_operator(const Operator& op, const Pooling&, BlockKernels& out) const {
        push_memory(out.forward, op.name, input_bytes(op) + output_bytes(op), false);
        push_memory(out.backward, op.name, input_bytes(op) + 2.0 * output_bytes(op), true);
    }
    void write_operator(const Operator& op, const Embedding& e, BlockKernels& out) const {
        push_memory(out.forward, op.name, 2.0 * output_bytes(op), false);
        // The gradient of the table is dense: cleared, then rows are added into it.
        const Bytes table = static_cast<double>(e.rows * e.width) * size_of(plan_.precision.gradient_type());
        push_weight_gradient(out.backward, op.name, table + 3.0 * output_bytes(op), 2);
    }
    void write_operator(const Operator& op, const CrossEntropy& c, BlockKernels& out) const {
        const double logits = static_cast<double>(c.rows) * static_cast<double>(c.classes);
        const Bytes stored = input_bytes(op);
        if (framework_.fused_cross_entropy) {
            push_memory(out.forward, op.name, stored, false);
            push_memory(out.backward, op.name, 2.0 * stored, true);
            return;
        }
        // An fp32 copy of the logits is made, exponentiated and summed in passes of its own.
        const Bytes wide = logits * size_of(DataType::fp32);
        push_memory(out.forward, op.name, stored + 4.0 * wide, false, 4);
        push_memory(out.backward, op.name, 3.0 * wide + stored, true, 3);
    }
    void write_operator(const Operator& op, const TokenPermute&, BlockKernels& out) const {
        push_memory(out.forward, op.name, input_bytes(op) + output_bytes(op), false, 2);
        push_memory(out.backward, op.name, input_bytes(op) + output_bytes(op), true, 2);
    }
    [[nodiscard]] Bytes exchange_bytes(const Operator& op, const Exchange& e) const {
        return e.elements * element_size(graph_.tensor(op.inputs.front()).role, plan_.precision);
    }
    void write_operator(const Operator& op, const Exchange& e, BlockKernels& out) const {
        const Bytes bytes = exchange_bytes(op, e);
        const auto call = [&](ExchangeKind kind, std::size_t after) {
            return ExchangeCall{.kind = kind, .group = e.group, .bytes = bytes, .after = after, .copies = e.copies, .reach = e.reach};
        };
        if (e.forward != ExchangeKind::none) out.forward_exchanges.push_back(call(e.forward, 0));
        if (e.backward != ExchangeKind::none) out.backward_exchanges.push_back(call(e.backward, out.backward.size()));
    }

    // A tensor that several operators read gets several gradients: each beyond the first is added by a kernel of its own.
    void add_gradient_sum(TensorId id, std::vector<Kernel>& list) const {
        const Tensor& t = graph_.tensor(id);
        if (t.role != TensorRole::activation || readers_[id.value] < 2) return;
        const int sums = readers_[id.value] - 1;
        push_memory(list, t.name + ".sum", 3.0 * sums * bytes_of(id), true, sums);
    }

    // Autocast keeps fp32 weights: each forward casts them down, each backward casts their gradients up.
    [[nodiscard]] bool casts_weights() const {
        return casts_each_use(plan_, framework_) && size_of(plan_.precision.compute) < size_of(plan_.precision.parameter);
    }
    [[nodiscard]] Bytes cast_bytes() const { return size_of(plan_.precision.parameter) + size_of(plan_.precision.compute); }

    // What the first does too is in its products' rate.
    [[nodiscard]] bool later_micro_batches_add() const { return plan_.micro_batches() > 1 && !framework_.accumulates_from_first; }
    // A sum is read and written where the product alone would be written.
    [[nodiscard]] Bytes bytes_to_accumulate() const {
        const Bytes product = element_size(TensorRole::activation, plan_.precision);
        return 2.0 * (framework_.gradients_in_fp32 ? size_of(DataType::fp32) : product) - product;
    }

    // From the second micro-batch on, each weight's gradient is added to what is there: two reads and a write.
    void finish_weight_gradient(const Operator& op, std::vector<Kernel>& list) const {
        if (!op.is_trained()) return;
        if (casts_weights()) push_weight_gradient(list, op.name + ".cast", op.parameters * cast_bytes());
        if (later_micro_batches_add() && !framework_.fused_gradient_accumulation)
            push_weight_gradient(list, op.name + ".accumulate", 3.0 * op.parameters * size_of(plan_.precision.gradient_type()));
    }

    const OperatorGraph& graph_;
    BlockRole role_;
    const Plan& plan_;
    const Framework& framework_;
    ComputeUnit unit_;
    DataType product_type_, unnarrowed_type_;
    std::vector<int> readers_;
    std::vector<FusedChain> chains_;
    std::vector<std::vector<std::size_t>> gathered_again_;
    std::vector<char> inside_products_, wanted_;
};

}  // namespace

BlockKernels block_kernels(const OperatorGraph& graph, BlockRole role, const Plan& plan, const Framework& framework, bool reads_data,
                           ComputeUnit unit) {
    BlockKernels out;
    KernelWriter(graph, role, plan, framework, reads_data, unit).write(out);
    measure_saved(graph, plan, framework, product_type(plan.precision, role), out);
    count_work(graph, out);
    return out;
}

}  // namespace sextant
