#include "backend/exec/exchange.hpp"

#include "model/base/failure.hpp"

namespace sextant {
namespace {

// A matrix of rows x width of which each of so many ranks has some columns.
struct Columns {
    std::int64_t rows, width;
    int ranks;
    [[nodiscard]] std::int64_t part() const { return width / ranks; }
    [[nodiscard]] std::int64_t part_elements() const { return rows * part(); }
};

bool cut_by_columns(const Tensor& a, const Tensor& b) { return a.shape.size() > 1 && a.shape[1] != b.shape[1]; }

Columns columns_of(const Tensor& whole, int ranks) {
    return {static_cast<std::int64_t>(whole.elements()) / whole.shape[1], whole.shape[1], ranks};
}

// Rows of `width` elements of the sequences: as a collective has them, and as they stand in the whole.
struct GatheredPiece {
    Array gathered;
    std::int64_t gathered_pitch;
    Array whole;
    std::int64_t whole_pitch, width;
};

// `gathered`: the ranks' parts one behind another, each of them its part of every array.
std::vector<GatheredPiece> pieces_of(const Array& gathered, std::span<const Array> wholes, ContextCut mine, std::int64_t sequences) {
    std::vector<GatheredPiece> pieces;
    std::int64_t at = 0;
    for (int r = 0; r < mine.ranks; ++r)
        for (const Array& whole : wholes) {
            const ContextCut rank{r, mine.ranks, mine.balanced};
            const std::int64_t all = whole.elements / sequences, part = all / mine.ranks, width = part / rank.slices();
            for (int i = 0; i < rank.slices(); ++i) {
                const std::int64_t here = at + i * width, there = rank.slice(i) * width;
                pieces.push_back(
                    {gathered.part(here, gathered.elements - here), part, whole.part(there, whole.elements - there), all, width});
            }
            at += part * sequences;
        }
    return pieces;
}

std::int64_t elements_of(std::span<const Array> arrays) {
    std::int64_t sum = 0;
    for (const Array& a : arrays) sum += a.elements;
    return sum;
}

}  // namespace

Array ArrayExchange::gather(ParallelGroup group, const Array& in, const Tensor& from, const Tensor& to) const {
    Array whole = device_.allocate(static_cast<std::int64_t>(to.elements()), in.element);
    if (!cut_by_columns(from, to)) {
        communicator_.all_gather(group, in, whole);
        return whole;
    }
    const Columns c = columns_of(to, communicator_.ranks(group));
    const Array parts = device_.allocate(whole.elements, in.element);
    communicator_.all_gather(group, in, parts);
    for (int r = 0; r < c.ranks; ++r)
        device_.copy_columns(parts.part(r * c.part_elements(), c.part_elements()), c.part(),
                             whole.part(r * c.part(), whole.elements - r * c.part()), c.width, c.part(), c.rows);
    return whole;
}

Array ArrayExchange::scatter(ParallelGroup group, const Array& in, const Tensor& from, const Tensor& to) const {
    Array part = device_.allocate(static_cast<std::int64_t>(to.elements()), in.element);
    if (!cut_by_columns(from, to)) {
        communicator_.reduce_scatter(group, in, part);
        return part;
    }
    const Columns c = columns_of(from, communicator_.ranks(group));
    const Array parts = device_.allocate(in.elements, in.element);
    for (int r = 0; r < c.ranks; ++r)
        device_.copy_columns(in.part(r * c.part(), in.elements - r * c.part()), c.width,
                             parts.part(r * c.part_elements(), c.part_elements()), c.part(), c.part(), c.rows);
    communicator_.reduce_scatter(group, parts, part);
    return part;
}

Array ArrayExchange::own_part(const Array& in, const Tensor& from, const Tensor& to) const {
    const auto elements = static_cast<std::int64_t>(to.elements());
    if (!cut_by_columns(from, to)) return in.part(cut_.tensor.rank * elements, elements);
    Array part = device_.allocate(elements, in.element);
    const Columns c = columns_of(from, cut_.tensor.ranks);
    const std::int64_t first = cut_.tensor.rank * c.part();
    device_.copy_columns(in.part(first, in.elements - first), c.width, part, c.part(), c.part(), c.rows);
    return part;
}

std::vector<Array> ArrayExchange::gather_sequences(std::span<const Array> parts) const {
    const Array mine = device_.allocate(elements_of(parts), parts.front().element);
    const Array gathered = device_.allocate(mine.elements * cut_.context.ranks, mine.element);
    std::vector<Array> wholes;
    std::int64_t at = 0;
    for (const Array& part : parts) {
        device_.copy(part, mine.part(at, part.elements));
        at += part.elements;
        wholes.push_back(device_.allocate(part.elements * cut_.context.ranks, part.element));
    }
    communicator_.all_gather(ParallelGroup::context, mine, gathered);
    for (const GatheredPiece& p : pieces_of(gathered, wholes, cut_.context, samples_))
        device_.copy_columns(p.gathered, p.gathered_pitch, p.whole, p.whole_pitch, p.width, samples_);
    return wholes;
}

std::vector<Array> ArrayExchange::scatter_sequences(std::span<const Array> wholes) const {
    const Array gathered = device_.allocate(elements_of(wholes), wholes.front().element);
    const Array mine = device_.allocate(gathered.elements / cut_.context.ranks, gathered.element);
    for (const GatheredPiece& p : pieces_of(gathered, wholes, cut_.context, samples_))
        device_.copy_columns(p.whole, p.whole_pitch, p.gathered, p.gathered_pitch, p.width, samples_);
    communicator_.reduce_scatter(ParallelGroup::context, gathered, mine);
    std::vector<Array> parts;
    std::int64_t at = 0;
    for (const Array& whole : wholes) {
        parts.push_back(mine.part(at, whole.elements / cut_.context.ranks));
        at += parts.back().elements;
    }
    return parts;
}

Array ArrayExchange::exchange(ExchangeKind kind, ParallelGroup group, const Array& in, const Tensor& from, const Tensor& to) const {
    switch (kind) {
        case ExchangeKind::none: return from.shape == to.shape ? in : own_part(in, from, to);
        case ExchangeKind::all_reduce: {
            Array sum = device_.allocate(in.elements, in.element);
            device_.copy(in, sum);
            communicator_.all_reduce(group, sum);
            return sum;
        }
        case ExchangeKind::all_gather: return gather(group, in, from, to);
        case ExchangeKind::reduce_scatter: return scatter(group, in, from, to);
        case ExchangeKind::all_to_all: break;
    }
    broken_invariant("an exchange between experts, which unsupported() refuses");
}

}  // namespace sextant
