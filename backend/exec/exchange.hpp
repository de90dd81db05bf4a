// Exchanges inside a block, with the copies that they cost: collectives work on arrays that lie together.
#pragma once

#include "backend/exec/communicator.hpp"
#include "backend/exec/device.hpp"

#include <span>
#include <vector>

namespace sextant {

class ArrayExchange {
public:
    // Of a rank that has this part of the block, and micro-batches of so many samples. Both references outlive it.
    ArrayExchange(ComputeDevice& device, RankCommunicator& communicator, const BlockCut& cut, std::int64_t samples)
        : device_(device), communicator_(communicator), cut_(cut), samples_(samples) {}

    // From an array shaped as `from` to a new one shaped as `to`. The two differ in the first extent (rows), the second (channels or
    // features), or not at all. Kind none cuts out this rank's part of what all have.
    [[nodiscard]] Array exchange(ExchangeKind, ParallelGroup, const Array&, const Tensor& from, const Tensor& to) const;

    // Over the context group, in one call for all arrays: from those of this rank's part of each sequence to those of all of it, in the
    // order of positions; and back, summed over the ranks.
    [[nodiscard]] std::vector<Array> gather_sequences(std::span<const Array> parts) const;
    [[nodiscard]] std::vector<Array> scatter_sequences(std::span<const Array> wholes) const;

private:
    [[nodiscard]] Array gather(ParallelGroup, const Array& in, const Tensor& from, const Tensor& to) const;
    [[nodiscard]] Array scatter(ParallelGroup, const Array& in, const Tensor& from, const Tensor& to) const;
    [[nodiscard]] Array own_part(const Array& in, const Tensor& from, const Tensor& to) const;

    ComputeDevice& device_;
    RankCommunicator& communicator_;
    BlockCut cut_;
    std::int64_t samples_;
};

}  // namespace sextant
