#include "backend/exec/parameters.hpp"

#include "backend/exec/device.hpp"
#include "model/base/ceil_divide.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace sextant {
namespace {

std::int64_t whole(double elements) { return static_cast<std::int64_t>(elements); }

// The same in whichever block; no other parameter has these.
RandomKey key_of(SharedMatrix matrix) { return matrix == SharedMatrix::embedding ? RandomKey(0).with(0).with(0) : RandomKey(4); }

// Writes the tensors of one operator. `op` is the operator here, `serial_op` the same one in the serial network.
class ParameterWriter {
public:
    ParameterWriter(const OperatorGraph& mine, const OperatorGraph& serial, const BlockCut& cut, int block)
        : mine_(mine), serial_(serial), cut_(cut.tensor), context_ranks_(cut.context.ranks), experts_(cut.experts), block_(block) {}

    void write(std::size_t index, const Operator& op, std::size_t serial_index, const Operator& serial_op) {
        if (op.parameters == 0) return;
        index_ = index;
        op_ = &op;
        serial_op_ = &serial_op;
        key_ = op.shared ? key_of(*op.shared) : RandomKey(0).with(static_cast<std::uint64_t>(block_)).with(serial_index);
        std::visit([&](const auto& kind) { write_kind(kind, std::get<std::decay_t<decltype(kind)>>(serial_op.kind)); }, op.kind);
    }
    std::vector<ParameterTensor> take() { return std::move(list_); }

private:
    struct Extent {
        std::int64_t here, serial;
    };

    void write_kind(const Gemm& g, const Gemm& s) {
        const Tensor& in = mine_.tensor(op_->inputs.front());
        const std::vector<Extent> sections = sections_of(g, s);
        ParameterTensor weight = tensor("weight", sections, {g.k, s.k},
                                        op_->shared == SharedMatrix::embedding ? normal : uniform(1 / std::sqrt(static_cast<float>(s.k))));
        // An image that is cut by channels and flattened has, of each pixel, a run of the serial columns.
        if (in.shape.size() > 2 && g.m == in.shape[0])
            weight.place = {
                .run = in.shape[1], .stride = in.shape[1] * s.k / g.k, .offset = part_offset(g.k, s.k, cut_) / (g.k / in.shape[1])};
        const bool partial = !op_->expert_parameters && is_part(g.m, s.m);
        // An adapter's narrow matrix that nothing cuts reads, or feeds, the tensor rank's part of the product beside it.
        const bool beside_part = op_->adapter != AdapterPart::none && g.k == s.k && g.n == s.n;
        weight.partial = partial || (beside_part && cut_.ranks > 1);
        if (op_->adapter == AdapterPart::up) weight.initial = constant(0);
        add(std::move(weight));
        if (whole(op_->parameters) == g.batch * g.n * g.k) return;
        ParameterTensor bias = tensor("bias", sections, {1, 1}, constant(0));
        bias.partial = partial;
        add(std::move(bias));
    }
    void write_kind(const Convolution& c, const Convolution& s) {
        const Convolution here = underlying(c), all = underlying(s);
        const auto taps = [](const Convolution& of) { return of.in_channels / of.groups * of.kernel_h * of.kernel_w; };
        // Products that are summed for a pixel: of one transposed as many as windows of the underlying one reach it.
        const double summed = c.transposed ? static_cast<double>(c.in_channels / c.groups * c.kernel_h * c.kernel_w) /
                                                 static_cast<double>(c.stride * c.stride)
                                           : static_cast<double>(taps(here));
        add(tensor("weight", {{here.out_channels, all.out_channels}}, {taps(here), taps(all)},
                   uniform(std::sqrt(6 / static_cast<float>(summed)))));
        if (whole(op_->parameters) > here.out_channels * taps(here))
            add(tensor("bias", {{c.out_channels, s.out_channels}}, {1, 1}, constant(0)));
    }
    void write_kind(const SequenceConvolution& c, const SequenceConvolution& s) {
        const std::vector<Extent> sections = sections_of_outputs();
        add(tensor("weight", sections, {c.kernel, s.kernel}, uniform(1 / std::sqrt(static_cast<float>(c.kernel)))));
        add(tensor("bias", sections, {1, 1}, constant(0)));
    }
    void write_kind(const StateSpaceScan& h, const StateSpaceScan& s) {
        const std::vector<Extent> heads{{h.heads, s.heads}};
        add(tensor("decay", heads, {1, 1}, uniform(1)));   // a: rates of decay around 1
        add(tensor("step", heads, {1, 1}, constant(-3)));  // b: steps of 0.05 where the input says nothing
        add(tensor("skip", heads, {1, 1}, constant(1)));   // d
    }
    void write_kind(const Normalization& n, const Normalization& s) {
        const bool by_row = n.kind == NormKind::layer || n.kind == NormKind::rms;
        const Extent width = by_row ? Extent{n.width, s.width} : Extent{channels_of(mine_, *op_), channels_of(serial_, *serial_op_)};
        const bool partial = n.of_heads ? cut_.ranks > 1 : n.kind != NormKind::batch && is_part(n.rows, s.rows);
        const auto vector = [&](const char* name, float value) {
            ParameterTensor t = tensor(name, {width}, {1, 1}, constant(value));
            t.partial = partial;
            add(std::move(t));
        };
        vector("gain", 1);
        if (whole(op_->parameters) > width.here) vector("shift", 0);
    }
    void write_kind(const Embedding& e, const Embedding& s) { add(tensor("table", {{e.rows, s.rows}}, {e.width, s.width}, normal)); }
    void write_kind(const Pointwise& p, const Pointwise& s) {
        const Extent width{channels_of(mine_, *op_), channels_of(serial_, *serial_op_)};
        ParameterTensor t;
        if (const Tensor& out = mine_.tensor(op_->outputs.front()); p.kind == PointwiseKind::bias && are_scores(out)) {
            // A number for each head and distance of two pixels.
            const std::int64_t side = 2 * window_px(out) - 1, distances = side * side;
            const auto heads = [&](const Operator& op) { return whole(op.parameters) / distances; };
            return add(tensor("distances", {{heads(*op_), heads(*serial_op_)}}, {distances, distances}, normal));
        }
        if (p.kind == PointwiseKind::bias) {
            t = tensor("bias", {width}, {1, 1}, constant(0));
        } else if (p.kind == PointwiseKind::multiply) {
            t = tensor("factor", {width}, {1, 1}, constant(1));
        } else {
            const std::int64_t rows = whole(op_->parameters) / width.here;
            const Initial sinusoids{Initial::Kind::sinusoids, static_cast<float>(p.constant)};
            t = tensor("rows", {{rows, rows}}, {width.here, width.serial}, p.constant > 0 ? sinusoids : normal);
        }
        t.partial = is_part(whole(p.elements), whole(s.elements)) && width.here == width.serial;
        add(std::move(t));
    }
    void write_kind(const TokenPermute&, const TokenPermute&) {
        const std::int64_t experts = whole(op_->parameters);
        add(tensor("bias", {{experts, experts}}, {1, 1}, constant(0)));
    }
    template <class Kind>
    void write_kind(const Kind&, const Kind&) {}

    // Of the rows that the tensor group has together, which with those of the other context ranks are the serial ones.
    [[nodiscard]] bool is_part(std::int64_t here, std::int64_t serial) const { return here * context_ranks_ < serial; }
    // Outputs of a matrix, in the parts that are cut each by itself: q, k and v; the two halves in front of a gate.
    [[nodiscard]] std::vector<Extent> sections_of(const Gemm& g, const Gemm& s) const {
        if (op_->outputs.size() > 1) return sections_of_outputs();
        if (feeds_gate()) return {{g.n / 2, s.n / 2}, {g.n / 2, s.n / 2}};
        return {{g.n, s.n}};
    }
    [[nodiscard]] std::vector<Extent> sections_of_outputs() const {
        std::vector<Extent> sections;
        for (std::size_t i = 0; i < op_->outputs.size(); ++i)
            sections.push_back({mine_.tensor(op_->outputs[i]).shape.back(), serial_.tensor(serial_op_->outputs[i]).shape.back()});
        return sections;
    }
    // By itself, or scaled and added to what does.
    [[nodiscard]] bool feeds_gate() const {
        std::vector<TensorId> halves{op_->outputs.front()};
        for (const Operator& reader : mine_.operators()) {
            const auto* p = std::get_if<Pointwise>(&reader.kind);
            if (p == nullptr || std::ranges::find_first_of(reader.inputs, halves) == reader.inputs.end()) continue;
            if (p->kind == PointwiseKind::gate || p->kind == PointwiseKind::clamped_gate) return true;
            if (p->kind == PointwiseKind::scale || p->kind == PointwiseKind::add) halves.push_back(reader.outputs.front());
        }
        return false;
    }
    static std::int64_t channels_of(const OperatorGraph& graph, const Operator& op) {
        const Tensor& out = graph.tensor(op.outputs.front());
        return out.shape[1];
    }

    static Initial constant(float value) { return {Initial::Kind::constant, value}; }
    static Initial uniform(float bound) { return {Initial::Kind::uniform, bound}; }
    static constexpr Initial normal{Initial::Kind::normal, 0.02F};

    [[nodiscard]] ParameterTensor tensor(const char* name, const std::vector<Extent>& rows, Extent columns, Initial initial) const {
        const TensorCut cut = op_->expert_parameters ? experts_.inside : cut_;
        ParameterTensor t;
        t.name = op_->name + "." + name;
        t.operator_index = index_;
        t.rows = t.whole_rows = 0;
        bool is_cut = false, has_copies = false;
        const auto section = [&](const Extent& r, bool here) {
            const std::int64_t offset = part_offset(r.here, r.serial, cut);
            const TensorCut before{cut.rank - 1, cut.ranks};
            const bool repeated = cut.rank > 0 && columns.here == columns.serial && part_offset(r.here, r.serial, before) == offset;
            if (here) t.sections.push_back({t.rows, r.here, t.whole_rows + offset, repeated});
            const std::int64_t pieces = ceil_divide(r.serial, r.here);
            is_cut |= pieces > 1;
            has_copies |= pieces < cut.ranks;
            t.rows += here ? r.here : 0;
            t.whole_rows += r.serial;
        };
        const auto [first, count, all] = experts();
        for (std::int64_t e = 0; e < all; ++e)
            for (const Extent& r : rows) section(r, e >= first && e < first + count);
        t.shared = is_cut && has_copies;
        t.columns = columns.here;
        t.whole_columns = columns.serial;
        t.place = {.run = columns.here, .stride = columns.serial, .offset = part_offset(columns.here, columns.serial, cut)};
        t.run = run();
        t.matrix = op_->shared;
        t.frozen = op_->frozen;
        t.initial = initial;
        return t;
    }
    [[nodiscard]] RunKind run() const {
        if (std::holds_alternative<TokenPermute>(op_->kind)) return RunKind::biases;
        return op_->tied ? RunKind::tied : op_->frozen ? RunKind::frozen : op_->expert_parameters ? RunKind::experts : RunKind::own;
    }
    // Which experts' weights the operator has here, of how many; what is no expert's is one matrix.
    struct Experts {
        std::int64_t first = 0, count = 1, all = 1;
    };
    [[nodiscard]] Experts experts() const {
        if (!op_->expert_parameters) return {};
        const std::int64_t here = std::get<Gemm>(op_->kind).batch;
        return {experts_.among.rank * here, here, std::get<Gemm>(serial_op_->kind).batch};
    }
    void add(ParameterTensor t) {
        t.key = key_.with(t.operator_index == last_ ? ++ordinal_ : (ordinal_ = 0));
        last_ = t.operator_index;
        if (t.run != RunKind::tied) {
            std::int64_t& end = ends_[static_cast<std::size_t>(t.run)];
            t.offset = end;
            end += t.elements();
        }
        list_.push_back(std::move(t));
    }

    const OperatorGraph& mine_;
    const OperatorGraph& serial_;
    TensorCut cut_;
    int context_ranks_;
    ExpertCut experts_;
    int block_;
    std::size_t index_ = 0, last_ = static_cast<std::size_t>(-1);
    std::uint64_t ordinal_ = 0;
    const Operator* op_ = nullptr;
    const Operator* serial_op_ = nullptr;
    RandomKey key_{0};
    std::array<std::int64_t, 5> ends_{};  // of the runs
    std::vector<ParameterTensor> list_;
};

// Of a table of positions: sines in the first half of the columns, cosines in the second, 2 pi to 2 pi `base` positions long.
float sinusoid(std::int64_t row, std::int64_t column, std::int64_t columns, double base) {
    const std::int64_t half = (columns + 1) / 2;
    const double angle = static_cast<double>(row) * std::pow(base, -static_cast<double>(column % half) / static_cast<double>(half));
    return static_cast<float>(column < half ? std::sin(angle) : std::cos(angle));
}

// Calls take(local element, serial element) for all that exist in the serial tensor.
template <class Take>
void for_each_element(const ParameterTensor& t, const Take& take) {
    for (const RowSection& s : t.sections)
        for (std::int64_t r = 0; r < s.count && s.whole + r < t.whole_rows; ++r)
            for (std::int64_t c = 0; c < t.columns; ++c)
                take((s.local + r) * t.columns + c, (s.whole + r) * t.whole_columns + t.place.of(c));
}

}  // namespace

std::vector<ParameterTensor> parameters_of(const OperatorGraph& mine, const OperatorGraph& serial, const BlockCut& cut, int block) {
    ParameterWriter writer(mine, serial, cut, block);
    const auto in_serial = counterparts(mine, serial);
    for (std::size_t i = 0; i < in_serial.size(); ++i)
        if (in_serial[i]) writer.write(i, mine.operators()[i], *in_serial[i], serial.operators()[*in_serial[i]]);
    return writer.take();
}

std::vector<std::optional<std::size_t>> counterparts(const OperatorGraph& mine, const OperatorGraph& serial) {
    std::vector<std::optional<std::size_t>> list;
    std::size_t next = 0;
    for (const Operator& op : mine.operators()) {
        std::optional<std::size_t>& found = list.emplace_back();
        if (std::holds_alternative<Exchange>(op.kind) || next == serial.operators().size()) continue;
        if (serial.operators()[next].name == op.name) found = next++;
    }
    assert(next == serial.operators().size());
    return list;
}

void draw(const ParameterTensor& t, std::uint64_t seed, std::span<float> to) {
    std::fill(to.begin(), to.end(), 0.0F);
    const RandomKey key = t.key.with(seed);
    for_each_element(t, [&](std::int64_t here, std::int64_t there) {
        const auto element = static_cast<std::uint64_t>(there);
        switch (t.initial.kind) {
            case Initial::Kind::constant: to[here] = t.initial.scale; break;
            case Initial::Kind::uniform: to[here] = t.initial.scale * (2 * key.uniform(element) - 1); break;
            case Initial::Kind::normal: to[here] = t.initial.scale * key.normal(element); break;
            case Initial::Kind::sinusoids:
                to[here] =
                    sinusoid(there / t.whole_columns, there % t.whole_columns, t.whole_columns, static_cast<double>(t.initial.scale));
                break;
        }
    });
}

void cut(const ParameterTensor& t, std::span<const float> serial, std::span<float> to) {
    std::fill(to.begin(), to.end(), 0.0F);
    for_each_element(t, [&](std::int64_t here, std::int64_t there) { to[here] = serial[there]; });
}

}  // namespace sextant
