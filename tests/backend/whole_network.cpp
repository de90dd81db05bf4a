#include "tests/backend/whole_network.hpp"

#include <set>

namespace sextant {

WholeNetwork::WholeNetwork(ComputeDevice& device, RankCommunicator& communicator, const Workload& workload, const NetworkCut& c)
    : device_(device), communicator_(communicator) {
    Shard whole = c.shard;
    whole.tensor = 1;
    whole.sequence_parallel = false;
    const Network mine = build_network(workload, c.shard), serial = build_network(workload, whole);
    for (std::size_t i = 0; i < mine.sequence.size(); ++i) {
        const BlockOptions options{.block = static_cast<int>(i),
                                   .samples = c.shard.micro_batch,
                                   .cut = {.tensor = c.cut},
                                   .input_gradients = i > 0,
                                   .recomputed = c.recomputed};
        programs_.emplace_back(mine.templates[mine.sequence[i]].graph, serial.templates[serial.sequence[i]].graph, c.plan, options);
    }
    EnumArray<SharedMatrix, Array, shared_matrix_count> shared_weights, shared_gradients;  // of the blocks before
    for (const BlockProgram& p : programs_) {
        weights_.push_back({device.allocate(p.elements(RunKind::own)), shared_weights});
        gradients_.push_back({device.allocate(p.elements(RunKind::own)), shared_gradients});
        for (const ParameterTensor& t : p.parameters()) {
            if (!t.matrix || t.run == RunKind::tied) continue;
            shared_weights[*t.matrix] = weights_.back().of(t);
            shared_gradients[*t.matrix] = gradients_.back().of(t);
        }
    }
    states_.resize(programs_.size());
}

BlockContext WholeNetwork::context(std::size_t block, const StepPosition& position) const {
    return {device_, communicator_, weights_[block], gradients_[block], position};
}

void WholeNetwork::for_each_parameter(
    const std::function<void(std::size_t, const ParameterTensor&, const Array&, const Array&)>& visit) const {
    for (std::size_t b = 0; b < programs_.size(); ++b)
        for (const ParameterTensor& p : programs_[b].parameters())
            if (p.run != RunKind::tied) visit(b, p, weights_[b].of(p), gradients_[b].of(p));
}

void WholeNetwork::draw_weights(std::uint64_t seed) {
    for (std::size_t b = 0; b < programs_.size(); ++b) programs_[b].draw_weights(device_, seed, weights_[b]);
}

void WholeNetwork::clear_gradients() {
    for (const ParameterArrays& g : gradients_) device_.fill(g.own, 0);
}

double WholeNetwork::forward_and_backward(const Data& data, const StepPosition& position) {
    std::vector<BlockProgram::Kept> kept(programs_.size());
    std::vector<Array> passed;
    kept_bytes_ = 0;
    losses_.clear();
    for (std::size_t b = 0; b < programs_.size(); ++b) {
        std::vector<Array> inputs;
        std::size_t next = 0;
        for (const TensorId id : programs_[b].graph().inputs()) {
            const Tensor& t = programs_[b].graph().tensor(id);
            inputs.push_back(b == 0 || t.role == TensorRole::index ? data(t) : passed[next++]);
        }
        passed = programs_[b].forward(context(b, position), inputs, &kept[b]);
        losses_.push_back(programs_[b].loss(device_, passed).value_or(0));
        // Those of modules for multi-token prediction stand behind what is handed on.
        while (b + 1 < programs_.size() && programs_[b].is_loss(passed.size() - 1)) passed.pop_back();
    }
    std::set<const void*> counted;  // two blocks may keep what one hands to the other
    for (const BlockProgram::Kept& of_block : kept)
        for (const Array& a : of_block.values)
            if (counted.insert(a.memory.get()).second) kept_bytes_ += a.bytes();
    for (std::size_t b = programs_.size(); b-- > 0;) {
        passed.resize(programs_[b].graph().outputs().size());
        std::vector<Array> gradients = programs_[b].backward(context(b, position), std::move(kept[b]), passed);
        passed.clear();
        for (std::size_t i = 0; i < gradients.size(); ++i)
            if (programs_[b].graph().tensor(programs_[b].graph().inputs()[i]).role != TensorRole::index) passed.push_back(gradients[i]);
    }
    for (std::size_t b = 0; b < programs_.size(); ++b) programs_[b].sum_partial_gradients(context(b, position));
    return losses_.back();
}

void WholeNetwork::update(const OptimizerSettings& settings) {
    ++steps_;
    for (std::size_t b = 0; b < programs_.size(); ++b) {
        while (states_[b].size() < static_cast<std::size_t>(facts_of(settings.kind).states)) {
            states_[b].push_back(device_.allocate(programs_[b].elements(RunKind::own)));
            device_.fill(states_[b].back(), 0);
        }
        device_.update(settings, steps_, weights_[b].own, gradients_[b].own, states_[b]);
    }
}

}  // namespace sextant
