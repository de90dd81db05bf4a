// The exchanges of the ranks over which the experts of a mixture are divided.
#pragma once

#include "backend/exec/communicator.hpp"
#include "backend/exec/device.hpp"
#include "backend/exec/routing.hpp"

#include <span>

namespace sextant {

class ExpertExchange {
public:
    // `cut`: this rank's part of the experts. Both references must outlive the object.
    ExpertExchange(ComputeDevice& device, RankCommunicator& communicator, ExpertCut cut)
        : device_(device), communicator_(communicator), cut_(cut) {}

    // Decides to which experts this rank's tokens go; the call of a TokenPermute then takes them there. `loss_weight`: see StepPosition.
    [[nodiscard]] Routing route(const OperatorCall&, const RoutedTokens&, double loss_weight) const;
    // Completes a routing with the row counts of the other ranks. `gathers`: each tensor rank of an expert has rows of its own.
    void share_counts(bool gathers, Routing&) const;

    // Exchanges arrays of rows for one operator, forward or backward. `to_experts`: rows move towards their experts; only all_to_all
    // depends on it.
    void exchange_rows(ExchangeKind, ParallelGroup, const Routing&, bool to_experts, std::span<const Array> from,
                       std::span<const Array> to) const;

private:
    ComputeDevice& device_;
    RankCommunicator& communicator_;
    ExpertCut cut_;
};

}  // namespace sextant
