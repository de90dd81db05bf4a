// The program in a file of torch.export.save (PyTorch's torch/_export/serde/schema.py, version 8): calls of ATen's operators, and the shape
// of every tensor. Weights are not looked at.
#pragma once

#include "model/base/diagnostics.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sextant {

struct TorchTensor {
    enum class Type { real, integer, boolean };  // by how a value that trains differs from an index and a mask
    std::vector<std::int64_t> sizes, strides;    // of an extent that was left open the one that was traced
    Type type = Type::real;
    std::string data_type;  // as PyTorch's enumeration has it: two are the same, or not
    bool trained = false;   // of a parameter: requires_grad

    [[nodiscard]] std::int64_t elements() const;
};

// Names of tensors, where a call has them.
struct TorchNames {
    std::vector<std::string> names;
};
using TorchArgument = std::variant<std::monostate, TorchNames, std::vector<std::int64_t>, double, bool, std::string>;

struct TorchCall {
    std::string target;  // "aten.conv2d.default"
    std::vector<std::pair<std::string, TorchArgument>> arguments;
    std::vector<std::string> outputs;  // names of tensors, also those of lists
    std::string module;                // path of the module that it stands in: "layer1.0.conv1"
    std::string pointer;               // where it stands in the file

    [[nodiscard]] const TorchArgument* argument(std::string_view name) const;  // null where it was not given
    template <class T>
    [[nodiscard]] const T* argument_as(std::string_view name) const {  // null where it was not given, or is none
        const TorchArgument* given = argument(name);
        return given != nullptr ? std::get_if<T>(given) : nullptr;
    }
};

struct TorchProgram {
    std::string version, root_class;  // "2.9.0", "torchvision.models.resnet.ResNet"
    std::vector<TorchCall> calls;     // each behind those that it reads from
    std::map<std::string, TorchTensor, std::less<>> tensors;
    std::map<std::string, std::string, std::less<>> parameters;  // name in the model, by name of the tensor
    std::vector<std::string> inputs, outputs;                    // tensors that the user gives and gets
};

// A .pt2 file, or the models/model.json of one. Throws InputError where it is neither, or damaged.
TorchProgram read_exported_program(const std::filesystem::path&);
TorchProgram read_exported_program(std::string_view json, const std::string& file);

}  // namespace sextant
