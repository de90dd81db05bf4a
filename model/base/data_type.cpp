#include "model/base/data_type.hpp"

namespace sextant {

std::string_view to_text(DataType type) {
    switch (type) {
        case DataType::fp64:
            return "fp64";
        case DataType::fp32:
            return "fp32";
        case DataType::tf32:
            return "tf32";
        case DataType::bf16:
            return "bf16";
        case DataType::fp16:
            return "fp16";
        case DataType::fp8:
            return "fp8";
        case DataType::mxfp8:
            return "mxfp8";
        case DataType::nvfp4:
            return "nvfp4";
        case DataType::int32:
            return "int32";
        case DataType::int8:
            return "int8";
        case DataType::int4:
            return "int4";
        case DataType::int1:
            return "int1";
    }
    return "fp32";
}

std::optional<DataType> parse_data_type(std::string_view text) {
    for (const DataType type : all_data_types)
        if (to_text(type) == text) return type;
    return std::nullopt;
}

}  // namespace sextant
