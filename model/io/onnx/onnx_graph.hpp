// The graph in an ONNX file (onnx.ai, onnx.proto): operators and the shapes of what they read. Weights are not looked at.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

struct OnnxTensor {
    std::vector<std::int64_t> dims;
    std::vector<std::int64_t> integers{};  // what is in it, if it is a list of integers such as a shape
    std::vector<double> reals{};           // likewise a list of a few numbers, such as factors

    [[nodiscard]] double elements() const;
};

struct OnnxAttribute {
    std::optional<std::int64_t> integer{};
    std::vector<std::int64_t> integers{};
    std::vector<double> reals{};
    std::string text{};
    std::optional<OnnxTensor> tensor{};
};

struct OnnxNode {
    std::string type, name;
    std::vector<std::string> inputs, outputs;
    std::map<std::string, OnnxAttribute, std::less<>> attributes;

    [[nodiscard]] std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
    [[nodiscard]] std::vector<std::int64_t> integers(std::string_view attribute) const;  // empty where there is none
    [[nodiscard]] std::vector<double> reals(std::string_view attribute) const;           // likewise
    [[nodiscard]] std::string_view text(std::string_view attribute) const;
};

struct OnnxInput {
    std::string name;
    std::vector<std::optional<std::int64_t>> shape;  // none: whatever it is given
};

struct OnnxGraph {
    std::string name, producer;
    std::vector<OnnxNode> nodes;  // each behind those that it reads from
    std::map<std::string, OnnxTensor, std::less<>> weights;
    std::vector<OnnxInput> inputs;     // some of which may be weights
    std::vector<std::string> outputs;  // names of what the nodes make
};

// `bytes`: what is in the file. Throws InputError where it is no such model.
OnnxGraph read_onnx(std::string_view bytes, const std::string& file);

}  // namespace sextant
