// What the ranks that share a mixture of experts out tell and send each other.
#pragma once

#include "backend/exec/communicator.hpp"
#include "backend/exec/device.hpp"
#include "backend/exec/routing.hpp"

#include <span>

namespace sextant {

class ExpertExchange {
public:
    // Of a rank that has this part of the experts. Both references outlive it.
    ExpertExchange(ComputeDevice& device, RankCommunicator& communicator, ExpertCut cut)
        : device_(device), communicator_(communicator), cut_(cut) {}

    // Decides where the tokens of this rank go, which the call of a TokenPermute will bring there. `loss_weight`: of the micro-batch's loss
    // in the step's.
    [[nodiscard]] Routing route(const OperatorCall&, const RoutedTokens&, double loss_weight) const;
    // Completes it with the rows of the other ranks. `gathers`: each tensor rank of an expert has rows of its own.
    void share_counts(bool gathers, Routing&) const;

    // One exchange of an operator, forward or back, of arrays of rows. `to_experts`: it brings rows nearer to their experts; all_to_all
    // alone asks.
    void exchange_rows(ExchangeKind, ParallelGroup, const Routing&, bool to_experts, std::span<const Array> from,
                       std::span<const Array> to) const;

private:
    ComputeDevice& device_;
    RankCommunicator& communicator_;
    ExpertCut cut_;
};

}  // namespace sextant
