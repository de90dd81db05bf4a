// One pass over a block: the values and gradients of one micro-batch while it runs.
#pragma once

#include "backend/exec/block_program.hpp"
#include "backend/exec/exchange.hpp"
#include "backend/exec/expert_exchange.hpp"

namespace sextant {

class BlockRun {
public:
    BlockRun(const PreparedBlock& block, const BlockContext& context, std::vector<Array> values)
        : block_(block), context_(context), values_(std::move(values)), gradients_(values_.size()) {}

    // Sets the routing that an earlier pass over the block decided.
    void set_routing(std::shared_ptr<const Routing> routing) { routing_ = std::move(routing); }
    [[nodiscard]] const std::shared_ptr<const Routing>& routing() const { return routing_; }
    // `keep`: keeps the values that backward needs.
    void forward(bool keep);
    void set_gradient(TensorId id, Array gradient) { gradients_[id.value] = std::move(gradient); }
    // `deferred`: receives the operators that are left to finish(); see BlockProgram::backward.
    void backward(std::vector<DeferredOperator>* deferred);
    void finish(const DeferredOperator&);

    [[nodiscard]] const Array& value(TensorId id) const { return values_[id.value]; }
    [[nodiscard]] const Array& gradient(TensorId id) const { return gradients_[id.value]; }
    std::vector<Array> take_values() { return std::move(values_); }

private:
    using Arrays = std::vector<Array>;

    [[nodiscard]] ArrayExchange arrays() const {
        return {context_.device, context_.communicator, block_.options.cut, block_.options.samples};
    }
    [[nodiscard]] ExpertExchange experts() const { return {context_.device, context_.communicator, block_.options.cut.experts}; }

    void run(std::size_t index);
    void run(const Operator&, const PreparedOperator&, const Exchange&);
    void differentiate(std::size_t index, std::vector<DeferredOperator>* deferred);
    void differentiate(const Operator&, const PreparedOperator&, const Exchange&, const Arrays& output_gradients);
    void run_again(std::size_t index);  // makes what the operator's backward needs and was not kept
    void accumulate(TensorId, Array gradient);
    void release_forward(std::size_t index, bool keep);
    void release_backward(std::size_t index);

    [[nodiscard]] OperatorCall call(std::size_t index, const Arrays& inputs, const Arrays& outputs, const Arrays& weights) const;
    [[nodiscard]] Arrays parameters_in(std::size_t index, const ParameterArrays&) const;
    [[nodiscard]] Arrays thrown_away(std::size_t index) const;
    [[nodiscard]] Arrays values_of(const std::vector<TensorId>&) const;
    Array allocate(TensorId) const;

    const PreparedBlock& block_;
    const BlockContext& context_;
    Arrays values_, gradients_;  // by tensor
    std::shared_ptr<const Routing> routing_;
};

}  // namespace sextant
