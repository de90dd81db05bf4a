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
        case DataType::fp32: return stored_as(word, word, false);
        case DataType::tf32: {
            Precision p = precision_policy(DataType::fp32);
            p.tf32 = true;
            return p;
        }
        case DataType::bf16:
        case DataType::fp16: return stored_as(word, DataType::fp32, true);
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
        case DataType::int1: {  // quantized inference: weights are stored as they are multiplied
            Precision p = precision_policy(DataType::fp16);
            p.compute = p.parameter = word;
            p.master_weights = false;
            return p;
        }
    }
    return {};
}

}  // namespace sextant
