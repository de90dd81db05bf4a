// The passes of a rank over its blocks.
#include "backend/exec/rank_runner.hpp"

#include <algorithm>
#include <utility>

namespace sextant {

BlockContext RankRunner::enter(int block, const Segment& s, const SegmentPlan& plan) {
    if (operators_) operators_->enter(job_.graph.blocks()[static_cast<std::size_t>(block)].block_template);
    const auto gathered = [&](int of) -> GatheredWeights {
        const auto found = plan.gathered_by.find(of);
        const Gathers gathers = found == plan.gathered_by.end() ? Gathers{} : found->second;
        const auto array = [&](std::optional<SegmentIndex> by) { return by ? gathered_[*by] : Array{}; };
        return {array(gathers.dense), array(gathers.experts)};
    };
    return {device_, block_exchanges_, memory_.weights_of(block, gathered), {}, position(s.micro_batch)};
}

void RankRunner::forward(const Segment& s, const ComputeWork& work, const SegmentPlan& plan) {
    Arrays& values = passing(Payload::activations, s);
    for (int b = work.first_block; b < work.first_block + work.count; ++b) {
        const BlockProgram& program = memory_.block(b).program;
        Arrays inputs(program.graph().inputs().size());
        if (const auto data = data_.find({b, s.micro_batch}); data != data_.end()) {
            inputs = std::move(data->second);
            data_.erase(data);
        }
        std::size_t next = 0;
        for (Array& input : inputs)
            if (!input) input = values[next++];
        BlockProgram::Kept kept;
        values = program.forward(enter(b, s, plan), inputs, job_.scenario.plan.forward_only ? nullptr : &kept);
        if (kept.routing) count_rows(b, *kept.routing);
        if (!job_.scenario.plan.forward_only) kept_[{b, s.micro_batch}] = std::move(kept);
        keep_losses({b, s.micro_batch}, program, values);
    }
    if (work.first_block + work.count == static_cast<int>(job_.graph.blocks().size())) values.clear();
}

// They stand behind what a block hands on, or in its place.
void RankRunner::keep_losses(BlockPass at, const BlockProgram& program, Arrays& values) {
    Arrays losses(values.size());
    Arrays handed_on;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (program.is_loss(i))
            losses[i] = std::move(values[i]);
        else
            handed_on.push_back(std::move(values[i]));
    if (handed_on.size() < losses.size()) made_losses_.push_back({at, program, std::move(losses)});
    values = std::move(handed_on);
}

void RankRunner::count_rows(int block, const Routing& routing) {
    for (std::size_t e = 0; e < routing.chosen.size(); ++e)
        expert_rows_[static_cast<std::size_t>(block) * job_.experts() + e] += static_cast<double>(routing.chosen[e]);
}

// At the end of a step: to ask a device for a loss is to wait for it. Each rank of a tensor group has the whole loss.
void RankRunner::take_losses() {
    for (const MadeLosses& made : made_losses_) {
        const bool last = made.at.block + 1 == static_cast<int>(job_.graph.blocks().size());
        double& sum = (last ? losses_ : mtp_losses_)[static_cast<std::size_t>(round_of(made.at.micro_batch))];
        const double parts = static_cast<double>(job_.scenario.plan.tp * (last ? 1 : job_.mtp_layers()));
        sum += made.program.loss(device_, made.outputs).value_or(0) * share_of_loss() / parts;
    }
    made_losses_.clear();
}

void RankRunner::backward(const Segment& s, const ComputeWork& work, const SegmentPlan& plan) {
    Arrays& gradients = passing(Payload::activation_gradients, s);
    for (int b = work.first_block + work.count - 1; b >= work.first_block; --b) {
        const BlockProgram& program = memory_.block(b).program;
        BlockContext at = enter(b, s, plan);
        at.gradients = memory_.gradients_of(b);
        gradients.resize(program.graph().outputs().size());
        auto* deferred = work.phase == Phase::backward_input ? &deferred_[{b, s.micro_batch}] : nullptr;
        const Arrays all = program.backward(at, std::move(kept_.at({b, s.micro_batch})), std::exchange(gradients, {}), deferred);
        kept_.erase({b, s.micro_batch});
        for (std::size_t i = 0; i < all.size(); ++i)
            if (program.graph().tensor(program.graph().inputs()[i]).role != TensorRole::index) gradients.push_back(all[i]);
        if (std::ranges::find(plan.completes, b) != plan.completes.end()) complete(b, at);
        if (b == 0) gradients.clear();
    }
}

// Nothing is added any more to a block's gradients before they are exchanged, or used.
void RankRunner::complete(int block, const BlockContext& at) {
    memory_.block(block).program.sum_partial_gradients(at);
    if (servers_) servers_->sample(device_, block);
}

// What zero-bubble schedules leave for when a stage would wait.
void RankRunner::finish_backward(const Segment& s, const ComputeWork& work, const SegmentPlan& plan) {
    for (int b = work.first_block + work.count - 1; b >= work.first_block; --b) {
        const BlockProgram& program = memory_.block(b).program;
        BlockContext at = enter(b, s, plan);
        at.gradients = memory_.gradients_of(b);
        const auto deferred = deferred_.find({b, s.micro_batch});
        program.finish_backward(at, deferred->second);
        deferred_.erase(deferred);
        if (std::ranges::find(plan.completes, b) != plan.completes.end()) complete(b, at);
    }
}

}  // namespace sextant
