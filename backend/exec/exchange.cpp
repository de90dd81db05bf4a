#include "backend/exec/exchange.hpp"

#include <cassert>

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

}  // namespace

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
    assert(false && "unsupported() refuses exchanges between experts");
    return in;
}

}  // namespace sextant
