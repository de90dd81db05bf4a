#include "model/workload/operator_checks.hpp"

#include "model/base/quantity_text.hpp"

#include <algorithm>
#include <utility>

namespace sextant {
namespace {

std::string count_text(double elements) { return number_text(elements, 1); }  // all digits

double count(std::vector<std::int64_t> extents) { return Tensor{{}, std::move(extents)}.elements(); }

constexpr std::size_t any_number = 1'000'000;

class OperatorChecker {
public:
    OperatorChecker(const OperatorGraph& graph, const Operator& op) : graph_(graph), op_(op) {}

    std::vector<std::string> check() && {
        std::visit(*this, op_.kind);
        if (op_.parameters != static_cast<double>(static_cast<std::int64_t>(op_.parameters))) add("parameters are no whole number");
        return std::move(found_);
    }

    void operator()(const Gemm& g) {
        const double weight = count({g.batch, g.k, g.n}), made = count({g.batch, g.m, g.n});
        bounded(weight);
        bounded(made);
        if (!takes(g.weight ? 1 : 2, g.weight ? 1 : 2) || !makes(1, any_number)) return;
        // Rows that are routed may be fewer than there is room for.
        const bool routed = g.weight && g.batch > 1;
        if (!routed) reads(0, count({g.batch, g.m, g.k}), "batch x m x k");
        if (!routed) expect("what it makes has", all_made(), made, "batch x m x n");
        if (g.weight) return;
        // Heads may share keys and values.
        const double second = size(op_.inputs[1]), sharing = weight / second;
        if (sharing < 1 || sharing != static_cast<double>(static_cast<std::int64_t>(sharing)))
            expect("its second operand has", second, weight, "batch x k x n, or a part of it that entries of the batch share,");
    }
    void operator()(const Convolution& c) {
        if (!takes(1, 1) || !makes(1, 1)) return;
        reads(0, count({c.batch, c.in_channels, c.in_h, c.in_w}), "batch x in_channels x in_h x in_w");
        leaves(0, count({c.batch, c.out_channels, c.out_h, c.out_w}), "batch x out_channels x out_h x out_w");
        if (c.in_channels % c.groups != 0 || c.out_channels % c.groups != 0) add("groups divides not both counts of channels");
        bounded(count({c.in_channels, c.out_channels, c.kernel_h, c.kernel_w}));
        const Convolution of = underlying(c);
        fit(of, of.in_h, of.out_h, of.kernel_h, of.padding_h, "row");
        fit(of, of.in_w, of.out_w, of.kernel_w, of.padding_w, "column");
    }
    void operator()(const Attention& a) {
        if (a.heads % a.kv_heads != 0) add("kv_heads does not divide heads");
        if (!takes(3, 3) || !makes(1, 2)) return;
        reads(0, count({a.batch, a.heads, a.query_len, a.head_dim}), "batch x heads x query_len x head_dim");
        reads(1, count({a.batch, a.kv_heads, a.key_len, a.head_dim}), "batch x kv_heads x key_len x head_dim");
        reads(2, count({a.batch, a.kv_heads, a.key_len, a.value_dim}), "batch x kv_heads x key_len x value_dim");
        leaves(0, count({a.batch, a.heads, a.query_len, a.value_dim}), "batch x heads x query_len x value_dim");
        if (op_.outputs.size() > 1) leaves(1, count({a.batch, a.heads, a.query_len}), "batch x heads x query_len");
    }
    void operator()(const SequenceConvolution& c) {
        if (!takes(1, any_number) || !makes(op_.inputs.size(), op_.inputs.size())) return;
        expect("what it makes has", all_made(), count({c.batch, c.sequence, c.channels}), "batch x sequence x channels");
        for (std::size_t i = 0; i < op_.inputs.size(); ++i) leaves(i, size(op_.inputs[i]), "those that it reads");
        bounded(count({c.channels, c.kernel}));
    }
    void operator()(const StateSpaceScan& s) {
        if (s.heads % s.groups != 0) add("groups does not divide heads");
        if (!takes(4, 4) || !makes(1, 1)) return;
        const double width = count({s.batch, s.sequence, s.heads, s.head_dim}), shared = count({s.batch, s.sequence, s.groups, s.state});
        reads(0, width, "batch x sequence x heads x head_dim");
        reads(1, shared, "batch x sequence x groups x state");
        reads(2, shared, "batch x sequence x groups x state");
        reads(3, count({s.batch, s.sequence, s.heads}), "batch x sequence x heads");
        leaves(0, width, "batch x sequence x heads x head_dim");
        bounded(count({s.batch, s.sequence, s.heads, s.chunk}));
    }
    void operator()(const DeltaRuleScan& s) {
        if (!takes(5, 5) || !makes(2, 2)) return;
        const double rows = count({s.batch, s.sequence, s.heads}), keys = count({s.batch, s.sequence, s.heads, s.key_dim});
        const double values = count({s.batch, s.sequence, s.heads, s.value_dim});
        for (const std::size_t i : {0, 1}) reads(i, keys, "batch x sequence x heads x key_dim");
        reads(2, values, "batch x sequence x heads x value_dim");
        for (const std::size_t i : {3, 4}) reads(i, rows, "batch x sequence x heads");
        leaves(0, values, "batch x sequence x heads x value_dim");
        leaves(1, count({s.batch, s.sequence, s.heads, s.chunk}), "batch x sequence x heads x chunk");
    }
    void operator()(const Normalization& n) {
        if (!takes(n.gated ? 2 : 1, n.gated ? 2 : 1) || !makes(1, 2)) return;
        const double all = count({n.rows, n.width});
        for (std::size_t i = 0; i < op_.inputs.size(); ++i) reads(i, all, "rows x width");
        leaves(0, all, "rows x width");
        if (n.width % n.parts != 0) add("parts does not divide width");
    }
    void operator()(const Softmax& s) {
        if (!takes(1, 1) || !makes(1, 1)) return;
        reads(0, count({s.rows, s.width}), "rows x width");
        leaves(0, count({s.rows, s.width}), "rows x width");
    }
    void operator()(const Pointwise& p) {
        if (!takes(1, any_number) || !makes(1, any_number)) return;
        bounded(p.elements);
        if (!p.order.empty()) check_order(p);
    }
    void operator()(const Pooling& p) {
        if (!takes(1, 1) || !makes(1, 1)) return;
        const Tensor &in = graph_.tensor(op_.inputs[0]), &out = graph_.tensor(op_.outputs[0]);
        bounded(out.elements() * static_cast<double>(p.window));
        if (p.kernel > 0 && p.padding >= p.kernel) add("a window may lie in the padding alone");
        for (std::size_t i = 2; i < std::min(in.shape.size(), out.shape.size()) && p.kernel > 0; ++i)
            if ((out.shape[i] - 1) * p.stride >= in.shape[i] + p.padding) add("a window begins behind the image");
    }
    void operator()(const Embedding& e) {
        bounded(count({e.rows, e.width}));
        if (!takes(0, 1) || !makes(1, 1)) return;
        if (op_.inputs.empty()) return;  // of positions
        reads(0, count({e.tokens}), "tokens");
        leaves(0, count({e.tokens, e.width}), "tokens x width");
    }
    void operator()(const CrossEntropy& c) {
        if (!takes(1, 2) || !makes(1, 2)) return;
        reads(0, count({c.rows, c.classes}), "rows x classes");
        if (op_.inputs.size() > 1) reads(1, count({c.rows}), "rows");
        leaves(0, count({c.rows}), "rows");
    }
    void operator()(const TokenPermute& t) {
        takes(1, any_number);
        makes(1, 2);
        bounded(count({t.tokens, t.width, t.copies}));
    }
    void operator()(const Exchange&) { add("a network of one device exchanges nothing"); }

private:
    void add(std::string what) { found_.push_back(std::move(what)); }
    [[nodiscard]] double size(TensorId id) const { return graph_.tensor(id).elements(); }
    [[nodiscard]] double all_made() const {
        double sum = 0;
        for (const TensorId id : op_.outputs) sum += size(id);
        return sum;
    }
    bool between(const char* what, std::size_t found, std::size_t least, std::size_t most) {
        if (found >= least && found <= most) return true;
        const std::string wanted = least == most        ? std::to_string(least)
                                   : most == any_number ? "at least " + std::to_string(least)
                                                        : std::to_string(least) + " to " + std::to_string(most);
        add(std::string(what) + " " + wanted + (wanted == "1" ? " tensor, not " : " tensors, not ") + std::to_string(found));
        return false;
    }
    bool takes(std::size_t least, std::size_t most) { return between("it reads", op_.inputs.size(), least, most); }
    bool makes(std::size_t least, std::size_t most) { return between("it makes", op_.outputs.size(), least, most); }
    void bounded(double elements) {
        if (elements > most_elements) add("it has " + count_text(elements) + " elements, more than any network");
    }
    void expect(const std::string& whose, double found, double wanted, const std::string& formula) {
        if (found != wanted) add(whose + " " + count_text(found) + " elements, where " + formula + " are " + count_text(wanted));
    }
    void reads(std::size_t i, double wanted, const char* formula) {
        expect("\"" + graph_.tensor(op_.inputs[i]).name + "\" has", size(op_.inputs[i]), wanted, formula);
    }
    void leaves(std::size_t i, double wanted, const char* formula) {
        expect("\"" + graph_.tensor(op_.outputs[i]).name + "\" has", size(op_.outputs[i]), wanted, formula);
    }
    // Windows along one side of the image.
    void fit(const Convolution& c, std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t padding, const std::string& line) {
        if (padding > (kernel - 1) * c.dilation) add("a window may lie in the padding alone");
        if ((out - 1) * c.stride >= in + padding) add("a window begins behind the last " + line + " of the image");
        if (in + padding - c.covered(out, kernel) >= c.stride) add("the last " + line + " of windows leaves room for one more");
    }
    void check_order(const Pointwise& p) {
        double made = 1, last = 0;
        for (const CopyAxis& axis : p.order) {
            made *= static_cast<double>(axis.extent);
            last += static_cast<double>(axis.extent - 1) * static_cast<double>(axis.stride);
            if (axis.start >= axis.extent) return add("an axis of its order starts behind its end");
        }
        expect("what it makes has", all_made(), made, "the extents of its order multiplied");
        if (op_.outputs.size() > 1 && p.order.front().extent != static_cast<std::int64_t>(op_.outputs.size()))
            add("the first axis of its order does not count what it makes");
        if (last >= size(op_.inputs.front())) add("its order leads behind the end of what it reads");
    }

    const OperatorGraph& graph_;
    const Operator& op_;
    std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> contradictions(const OperatorGraph& graph, const Operator& op) { return OperatorChecker(graph, op).check(); }

}  // namespace sextant
