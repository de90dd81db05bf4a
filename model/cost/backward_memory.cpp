#include "model/cost/kernel_rules.hpp"
#include "model/workload/retention.hpp"

#include <algorithm>
#include <memory>

namespace sextant {
namespace {

class BackwardWalk {
public:
    BackwardWalk(const OperatorGraph& graph, const Plan& plan, const std::vector<bool>& dropped, bool reads_data)
        : graph_(graph), plan_(plan), wanted_(find_wanted(graph, reads_data)) {
        for (const Operator& op : graph.operators()) differentiated_.push_back(wanted_[op.outputs.front().value]);
        for (std::size_t t = 0; t < graph.tensors().size(); ++t) wanted_[t] = wanted_[t] && has_gradient(graph.tensors()[t].role);
        retention_ = plan_retention(graph, dropped, differentiated_);
    }

    Bytes most() {
        const std::vector<TensorId> kept = saved_for_backward(graph_);
        for (const TensorId id : kept)
            if (retention_.kept[id.value]) values_[id.value] = hold(id);
        const Bytes before = now_;
        // The block behind counted them, and is through with them.
        for (const TensorId id : graph_.outputs())
            if (retention_.kept[id.value] && !values_[id.value]) values_[id.value] = hold(id);
        for (const TensorId id : graph_.outputs())
            if (wanted_[id.value]) gradients_[id.value] = hold(id);
        most_ = now_;
        for (std::size_t i = graph_.operators().size(); i-- > 0;) step(i);
        return most_ - before;
    }

private:
    using Held = std::shared_ptr<void>;  // arrays may have several owners

    Held hold(TensorId id) {
        const Tensor& t = graph_.tensor(id);
        const Bytes bytes = t.elements() * element_size(t.role, plan_.precision) / (t.role == TensorRole::logits ? plan_.head_chunks : 1);
        now_ += bytes;
        most_ = max(most_, now_);
        return {this, [bytes](BackwardWalk* walk) { walk->now_ -= bytes; }};
    }

    void accumulate(TensorId id, Held gradient) {
        Held& sum = gradients_[id.value];
        sum = !sum ? std::move(gradient) : sum.use_count() == 1 ? sum : hold(id);
    }

    void step(std::size_t index) {
        const Operator& op = graph_.operators()[index];
        if (differentiated_[index]) differentiate(op, retention_.again[index]);
        for (const TensorId id : op.outputs) gradients_[id.value] = {};
        for (std::size_t t = 0; t < values_.size(); ++t)
            if (retention_.last_backward[t] == index) values_[t] = {};
    }

    void differentiate(const Operator& op, const std::vector<RunAgain>& first) {
        if (hands_gradient_through(graph_, op)) {
            const Held gradient = gradients_[op.outputs.front().value];
            for (const TensorId id : op.inputs)
                if (wanted_[id.value]) accumulate(id, gradient);
            return;
        }
        for (const RunAgain& again : first) {
            for (const TensorId id : graph_.operators()[again.operator_index].outputs) values_[id.value] = hold(id);
            for (const TensorId id : again.releases) values_[id.value] = {};
        }
        std::vector<std::pair<TensorId, Held>> made;
        for (const TensorId id : op.inputs)
            if (wanted_[id.value]) made.emplace_back(id, hold(id));
        for (auto& [id, gradient] : made) accumulate(id, std::move(gradient));
    }

    const OperatorGraph& graph_;
    const Plan& plan_;
    std::vector<bool> wanted_, differentiated_;
    Retention retention_;
    Bytes now_, most_;
    std::vector<Held> values_ = std::vector<Held>(graph_.tensors().size()), gradients_ = values_;  // by tensor
};

}  // namespace

Bytes most_in_backward(const OperatorGraph& graph, const Plan& plan, const std::vector<bool>& dropped, bool reads_data) {
    return BackwardWalk(graph, plan, dropped, reads_data).most();
}

}  // namespace sextant
