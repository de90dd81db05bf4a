#include "model/io/onnx/onnx_layers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace sextant {
namespace {

using Kind = ChainLayer::Kind;

constexpr std::int64_t most_pixels = 1 << 20;  // of a window, or around it

bool all_equal(const std::vector<std::int64_t>& list, std::int64_t value) {
    return std::ranges::all_of(list, [&](std::int64_t v) { return v == value; });
}

// Writes stride and padding for a window of so many rows and columns. `pads`: before and behind, first rows, then columns.
void read_window(const OnnxNode& node, std::int64_t rows, std::int64_t columns, OnnxLayer& out) {
    const std::vector<std::int64_t> strides = node.integers("strides"), dilations = node.integers("dilations");
    out.layer.kernel = rows;
    out.layer.stride = strides.empty() ? 1 : strides.front();
    if (!all_equal(strides, out.layer.stride)) out.problem = "its strides differ";
    const std::int64_t reach = dilations.empty() ? 1 : dilations.front();
    if (!all_equal(dilations, reach)) out.problem = "its dilations differ";
    if (out.layer.kind == Kind::conv)
        out.layer.dilation = reach;
    else if (reach > 1)
        out.left_out = "dilation of windows that pool";
    std::vector<std::int64_t> pads = node.integers("pads");
    pads.resize(4, 0);
    for (const auto& list : {strides, dilations, pads, {rows, columns}})
        if (std::ranges::any_of(list, [](std::int64_t v) { return v < 0 || v > most_pixels; })) {
            out.problem = "its window is out of all proportion";
            return;
        }
    const std::string_view rule = node.text("auto_pad");
    if (rule.starts_with("SAME")) {
        if (out.layer.kind == Kind::pool) out.layer.padding = (rows - 1) / 2;
        return;
    }
    const std::int64_t of_rows = pads[0] + pads[2], of_columns = pads[1] + pads[3];
    if (out.layer.kind == Kind::conv && of_rows == reach * (rows - 1) && of_columns == reach * (columns - 1)) return;
    if (of_rows != of_columns) out.problem = "its rows and columns are padded differently";
    // One more behind than before: as it is written for strides, where padding by one more on both sides makes as many windows.
    if (out.layer.kind == Kind::conv || of_rows > 0) out.layer.padding = (of_rows + 1) / 2;
    if (of_rows % 2 == 1 && out.layer.stride == 1) out.problem = "it is padded on one side only";
}

}  // namespace

OnnxLayer onnx_convolution(const OnnxNode& node, const OnnxTensor& weight) {
    OnnxLayer out{.layer = {.kind = Kind::conv, .bias = node.inputs.size() > 2 && !node.inputs[2].empty()}};
    if (weight.dims.size() != 4) {
        out.problem = "it is not over an image";
        return out;
    }
    out.layer.width = weight.dims[0];
    out.layer.groups = node.integer("group", 1);
    if (weight.dims[2] != weight.dims[3]) out.layer.kernel_w = weight.dims[3];
    read_window(node, weight.dims[2], weight.dims[3], out);
    return out;
}

OnnxLayer onnx_transposed_convolution(const OnnxNode& node, const OnnxTensor& weight) {
    OnnxLayer out{.layer = {.kind = Kind::conv, .transposed = true, .bias = node.inputs.size() > 2 && !node.inputs[2].empty()}};
    const auto all = [&](std::string_view attribute, std::int64_t otherwise) -> std::optional<std::int64_t> {
        const std::vector<std::int64_t> list = node.integers(attribute);
        const std::int64_t value = list.empty() ? otherwise : list.front();
        return all_equal(list, value) && value >= 0 && value <= most_pixels ? std::optional(value) : std::nullopt;
    };
    const auto stride = all("strides", 1), pad = all("pads", 0), more = all("output_padding", 0);
    if (weight.dims.size() != 4 || weight.dims[2] != weight.dims[3] || node.integer("group", 1) != 1 || all("dilations", 1) != 1) {
        out.problem = "a transposed convolution here is square, and neither grouped nor dilated";
    } else if (!stride || !pad || !more || *stride < 1 || weight.dims[2] > most_pixels || !node.integers("output_shape").empty() ||
               node.text("auto_pad").starts_with("SAME")) {
        out.problem = "its strides or paddings differ between rows, columns and sides, or are not stated";
    } else {
        out.layer.width = weight.dims[1];
        out.layer.kernel = weight.dims[2];
        out.layer.stride = *stride;
        // As many times as large is what a chain takes for granted; else it states the padding, and adds nothing behind.
        const bool as_stride = out.layer.kernel - *stride - 2 * *pad + *more == 0;
        if (!as_stride) out.layer.padding = *pad;
        if (!as_stride && *more > 0)
            out.problem = "output_padding makes its image neither as large as the windows nor `stride` times as large";
    }
    return out;
}

OnnxLayer onnx_upsampling(const OnnxNode& node, const OnnxTensor& scales) {
    OnnxLayer out{.layer = {.kind = Kind::upsample}};
    const std::string_view mode = node.text("mode");
    if (!mode.empty() && mode != "nearest" && mode != "linear" && mode != "bilinear") out.problem = "it is neither nearest nor linear";
    if (mode == "linear" || mode == "bilinear") out.layer.upsampling = PointwiseKind::interpolate;
    std::vector<double> by = node.reals("scales");
    if (by.empty()) by = scales.reals;
    const bool known = by.size() == 4 && by[0] == 1 && by[1] == 1 && by[2] == by[3] && by[2] >= 1 && by[2] <= most_pixels;
    if (!known || by[2] != std::floor(by[2]))
        out.problem = "it does not state one whole factor for height and width: export with scale_factor=2, say, in the place of a size";
    else
        out.layer.stride = static_cast<std::int64_t>(by[2]);
    return out;
}

OnnxLayer onnx_pooling(const OnnxNode& node) {
    OnnxLayer out{.layer = {.kind = Kind::pool}};
    out.layer.pooling = node.type == "MaxPool" ? PoolingKind::max : PoolingKind::average;
    const std::vector<std::int64_t> kernel = node.integers("kernel_shape");
    if (kernel.size() != 2 || kernel[0] != kernel[1]) {
        out.problem = "its window is no square";
        return out;
    }
    out.layer.round_up = node.integer("ceil_mode", 0) != 0;
    read_window(node, kernel[0], kernel[1], out);
    return out;
}

OnnxLayer onnx_activation(const OnnxNode& node) {
    struct Known {
        std::string_view type;
        PointwiseKind function;
        std::string_view left_out{};
    };
    static constexpr std::array known{Known{"Relu", PointwiseKind::relu},
                                      Known{"Sigmoid", PointwiseKind::sigmoid},
                                      Known{"Gelu", PointwiseKind::gelu},
                                      Known{"Clip", PointwiseKind::relu6},
                                      Known{"HardSwish", PointwiseKind::silu, "HardSwish taken as SiLU"},
                                      Known{"Swish", PointwiseKind::silu},
                                      Known{"HardSigmoid", PointwiseKind::sigmoid, "HardSigmoid taken as sigmoid"},
                                      Known{"Tanh", PointwiseKind::tanh},
                                      Known{"LeakyRelu", PointwiseKind::relu, "LeakyRelu taken as ReLU"},
                                      Known{"PRelu", PointwiseKind::relu, "PRelu taken as ReLU"},
                                      Known{"Elu", PointwiseKind::relu, "Elu taken as ReLU"}};
    OnnxLayer out{.layer = {.kind = Kind::activation}};
    const auto* const found = std::ranges::find(known, std::string_view(node.type), &Known::type);
    if (found == known.end()) {
        out.problem = "no activation function";
        return out;
    }
    out.layer.function = found->function;
    out.left_out = found->left_out;
    return out;
}

}  // namespace sextant
