// Exchanges of tensors inside a block. A collective works on contiguous arrays, so parts of a tensor are copied together first.
#pragma once

#include "backend/exec/communicator.hpp"
#include "backend/exec/device.hpp"

#include <span>
#include <vector>

namespace sextant {

class ArrayExchange {
public:
    // `cut`: this rank's part of the block; `samples`: of a micro-batch. Both references must outlive the object.
    ArrayExchange(ComputeDevice& device, RankCommunicator& communicator, const BlockCut& cut, std::int64_t samples)
        : device_(device), communicator_(communicator), cut_(cut), samples_(samples) {}

    // Exchanges an array of shape `from` and returns a new one of shape `to`. The two differ in the first extent (rows), the second
    // (channels or features), or not at all. Kind `none` cuts this rank's part out of an array that all ranks have.
    [[nodiscard]] Array exchange(ExchangeKind, ParallelGroup, const Array&, const Tensor& from, const Tensor& to) const;

    // Gathers arrays over the context group, in one call: from this rank's part of each sequence to whole sequences, in the order of
    // positions. scatter_sequences() goes back, and sums over the ranks.
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
