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

Array gather(ComputeDevice& device, RankCommunicator& communicator, ParallelGroup group, const Array& in, const Tensor& from,
             const Tensor& to) {
    Array whole = device.allocate(static_cast<std::int64_t>(to.elements()), in.element);
    if (!cut_by_columns(from, to)) {
        communicator.all_gather(group, in, whole);
        return whole;
    }
    const Columns c = columns_of(to, communicator.ranks(group));
    const Array parts = device.allocate(whole.elements, in.element);
    communicator.all_gather(group, in, parts);
    for (int r = 0; r < c.ranks; ++r)
        device.copy_columns(parts.part(r * c.part_elements(), c.part_elements()), c.part(),
                            whole.part(r * c.part(), whole.elements - r * c.part()), c.width, c.part(), c.rows);
    return whole;
}

Array scatter(ComputeDevice& device, RankCommunicator& communicator, ParallelGroup group, const Array& in, const Tensor& from,
              const Tensor& to) {
    Array part = device.allocate(static_cast<std::int64_t>(to.elements()), in.element);
    if (!cut_by_columns(from, to)) {
        communicator.reduce_scatter(group, in, part);
        return part;
    }
    const Columns c = columns_of(from, communicator.ranks(group));
    const Array parts = device.allocate(in.elements, in.element);
    for (int r = 0; r < c.ranks; ++r)
        device.copy_columns(in.part(r * c.part(), in.elements - r * c.part()), c.width,
                            parts.part(r * c.part_elements(), c.part_elements()), c.part(), c.part(), c.rows);
    communicator.reduce_scatter(group, parts, part);
    return part;
}

Array own_part(ComputeDevice& device, TensorCut cut, const Array& in, const Tensor& from, const Tensor& to) {
    const auto elements = static_cast<std::int64_t>(to.elements());
    if (!cut_by_columns(from, to)) return in.part(cut.rank * elements, elements);
    Array part = device.allocate(elements, in.element);
    const Columns c = columns_of(from, cut.ranks);
    const std::int64_t first = cut.rank * c.part();
    device.copy_columns(in.part(first, in.elements - first), c.width, part, c.part(), c.part(), c.rows);
    return part;
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

std::vector<Array> gather_sequences(ComputeDevice& device, RankCommunicator& communicator, ContextCut cut, std::int64_t sequences,
                                    std::span<const Array> parts) {
    const Array mine = device.allocate(elements_of(parts), parts.front().element);
    const Array gathered = device.allocate(mine.elements * cut.ranks, mine.element);
    std::vector<Array> wholes;
    std::int64_t at = 0;
    for (const Array& part : parts) {
        device.copy(part, mine.part(at, part.elements));
        at += part.elements;
        wholes.push_back(device.allocate(part.elements * cut.ranks, part.element));
    }
    communicator.all_gather(ParallelGroup::context, mine, gathered);
    for (const GatheredPiece& p : pieces_of(gathered, wholes, cut, sequences))
        device.copy_columns(p.gathered, p.gathered_pitch, p.whole, p.whole_pitch, p.width, sequences);
    return wholes;
}

std::vector<Array> scatter_sequences(ComputeDevice& device, RankCommunicator& communicator, ContextCut cut, std::int64_t sequences,
                                     std::span<const Array> wholes) {
    const Array gathered = device.allocate(elements_of(wholes), wholes.front().element);
    const Array mine = device.allocate(gathered.elements / cut.ranks, gathered.element);
    for (const GatheredPiece& p : pieces_of(gathered, wholes, cut, sequences))
        device.copy_columns(p.whole, p.whole_pitch, p.gathered, p.gathered_pitch, p.width, sequences);
    communicator.reduce_scatter(ParallelGroup::context, gathered, mine);
    std::vector<Array> parts;
    std::int64_t at = 0;
    for (const Array& whole : wholes) {
        parts.push_back(mine.part(at, whole.elements / cut.ranks));
        at += parts.back().elements;
    }
    return parts;
}

Array exchange(ComputeDevice& device, RankCommunicator& communicator, ExchangeKind kind, ParallelGroup group, TensorCut cut,
               const Array& in, const Tensor& from, const Tensor& to) {
    switch (kind) {
        case ExchangeKind::none:
            return from.shape == to.shape ? in : own_part(device, cut, in, from, to);
        case ExchangeKind::all_reduce: {
            Array sum = device.allocate(in.elements, in.element);
            device.copy(in, sum);
            communicator.all_reduce(group, sum);
            return sum;
        }
        case ExchangeKind::all_gather:
            return gather(device, communicator, group, in, from, to);
        case ExchangeKind::reduce_scatter:
            return scatter(device, communicator, group, in, from, to);
        case ExchangeKind::all_to_all:
            break;
    }
    broken_invariant("an exchange between experts, which unsupported() refuses");
}

}  // namespace sextant
