// An operator's call in fp32, for an engine that has no 16-bit form of the operator: with copies of what it reads, and arrays for what it
// computes.
#pragma once

#include "backend/exec/device.hpp"

#include <functional>
#include <vector>

namespace sextant {

// The type of the call's activations and weights: fp32, bf16 or fp16.
Element element_of(const OperatorCall&);

class WideCall {
public:
    using Room = std::function<Array(std::int64_t elements)>;                 // in fp32
    using Convert = std::function<void(const Array& from, const Array& to)>;  // ComputeDevice::copy

    WideCall(const OperatorCall&, bool backward, Room, Convert);
    [[nodiscard]] const OperatorCall& call() const { return call_; }
    void finish() const;  // rounds the results into the arrays of the original call

private:
    using Arrays = std::vector<Array>;
    Arrays read(std::span<const Array>) const;
    Arrays made(std::span<const Array>) const;

    const OperatorCall& narrow_;
    bool backward_;
    Room room_;
    Convert convert_;
    OperatorCall call_;
    Arrays inputs_, outputs_, weights_, input_gradients_, output_gradients_;
};

}  // namespace sextant
