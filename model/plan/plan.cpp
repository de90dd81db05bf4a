#include "model/plan/plan.hpp"

namespace sextant {
namespace {

Precision stored_as(DataType type, DataType optimizer_state, bool mixed) {
    Precision p;
    p.compute = p.activation = p.parameter = type;
    p.optimizer_state = optimizer_state;
    p.master_weights = p.tf32 = mixed;
    return p;
}

}  // namespace

Precision precision_policy(DataType word) {
    switch (word) {
        case DataType::fp64:
        case DataType::fp32:
            return stored_as(word, word, false);
        case DataType::tf32: {
            Precision p = precision_policy(DataType::fp32);
            p.tf32 = true;
            return p;
        }
        case DataType::bf16:
        case DataType::fp16:
            return stored_as(word, DataType::fp32, true);
        case DataType::fp8:
        case DataType::mxfp8:
        case DataType::nvfp4: {
            Precision p = precision_policy(DataType::bf16);
            p.compute = word;
            return p;
        }
        case DataType::int32:
        case DataType::int8:
        case DataType::int4:
        case DataType::int1: {  // quantised inference: weights are stored as they are multiplied
            Precision p = precision_policy(DataType::fp16);
            p.compute = p.parameter = word;
            p.master_weights = false;
            return p;
        }
    }
    return {};
}

// Tensors of the size of the parameters that one update reads or writes (parameter p, gradient g, momenta m and v, LAMB's update u).
// SGD: p, g; p. Momentum adds m read and written. Adam: p, g, m, v; p, m, v (Kingma and Ba, arXiv 1412.6980, algorithm 1).
// LAMB (You et al., arXiv 1904.00962, algorithm 2) has three passes: p, g, m, v; m, v, u. Then the norms: p, u. Then the step: p, u; p.
OptimizerFacts facts_of(Optimizer optimizer) {
    switch (optimizer) {
        case Optimizer::sgd:
            return {0, 3, false};
        case Optimizer::momentum:
            return {1, 5, false};
        case Optimizer::adam:
        case Optimizer::adamw:
            return {2, 7, false};
        case Optimizer::lamb:
            return {2, 12, true};
    }
    return {2, 7, false};
}

}  // namespace sextant
