// Rotary positions: of each head, pairs of elements are turned by an angle that grows with the position; see backend/cpu/rotary.cpp.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/exec/rotary_heads.hpp"
#include "backend/kernels/column_totals.hpp"

namespace sextant::kernels {

// Fills the cosines and sines of all angles, [positions, pairs]: of the rows of a sequence that are here. `direction`: -1 turns back.
struct RotaryTable {
    double base;
    std::int64_t pairs, positions;
    ContextCut context;
    float direction;
    float *cosines, *sines;
    SEXTANT_KERNEL void operator()(std::int64_t row, std::int64_t i) const {
        const double angle =
            static_cast<double>(context.position(row, positions)) * pow(base, -static_cast<double>(i) / static_cast<double>(pairs));
        cosines[row * pairs + i] = static_cast<float>(cos(angle));
        sines[row * pairs + i] = direction * static_cast<float>(sin(angle));
    }
};

// Turns rows of [rows, columns]. Column k is pair k % pairs of head k / pairs; the first `still` elements of a head stay as they are.
template <class T>
struct Rotate {
    const T* from;
    const float *cosines, *sines;
    T* to;
    std::int64_t pairs, positions, columns, head, still;
    [[nodiscard]] SEXTANT_KERNEL std::int64_t first_at(std::int64_t row, std::int64_t k) const {
        return row * columns + k / pairs * head + still + k % pairs;
    }
    SEXTANT_KERNEL FloatPair operator()(std::int64_t row, std::int64_t k) const {
        const std::int64_t at = first_at(row, k), turn = row % positions * pairs + k % pairs;
        const float a = from[at], b = from[at + pairs];
        return {a * cosines[turn] - b * sines[turn], b * cosines[turn] + a * sines[turn]};
    }
    SEXTANT_KERNEL void put(std::int64_t row, std::int64_t k, const FloatPair& made) const {
        const std::int64_t at = first_at(row, k);
        to[at] = made.first;
        to[at + pairs] = made.second;
    }
};

template <class T, class Machine>
void rotate(Machine& m, const Pointwise& p, const OperatorCall& c, std::span<const Array> from, std::span<const Array> to,
            float direction) {
    const std::int64_t positions = c.output(0).shape.front() / c.samples, pairs = rotary_heads(p, 0).pairs();
    const Array cosines = m.scratch(positions * pairs), sines = m.scratch(positions * pairs);
    m.matrix(positions, pairs, RotaryTable{p.constant, pairs, positions, c.place.context, direction, cosines.reals(), sines.reals()});
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (!from[i] || !to[i]) continue;
        const std::int64_t rows = c.output(i).shape.front(), columns = c.output(i).shape.back();
        const RotaryHeads heads = rotary_heads(p, columns);
        if (heads.still() > 0) m.copy(from[i].as<T>(), to[i].as<T>(), rows * columns);
        m.matrix(rows, columns / heads.width * pairs,
                 Rotate<T>{from[i].as<T>(), cosines.reals(), sines.reals(), to[i].as<T>(), pairs, positions, columns, heads.width,
                           heads.still()});
    }
}

}  // namespace sextant::kernels
