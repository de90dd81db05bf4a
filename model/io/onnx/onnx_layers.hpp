// Operators of ONNX (onnx.ai/onnx/operators) that are one layer of a chain each. Internal to model/io/onnx.
#pragma once

#include "model/io/onnx/onnx_graph.hpp"
#include "model/workload/workload.hpp"

#include <string>

namespace sextant {

// What an operator is, or why it is none: `problem` is empty where it is one. `left_out` names what the layer does not say.
struct OnnxLayer {
    ChainLayer layer;
    std::string problem{}, left_out{};
};

OnnxLayer onnx_convolution(const OnnxNode&, const OnnxTensor& weight);  // weight [out_channels, in_channels / groups, height, width]
OnnxLayer onnx_transposed_convolution(const OnnxNode&, const OnnxTensor& weight);  // weight [in_channels, out_channels, height, width]
OnnxLayer onnx_upsampling(const OnnxNode&, const OnnxTensor& scales);              // Resize or Upsample; scales [4], where it reads them
OnnxLayer onnx_pooling(const OnnxNode&);
OnnxLayer onnx_activation(const OnnxNode&);  // `problem` where the operator is no activation function

}  // namespace sextant
