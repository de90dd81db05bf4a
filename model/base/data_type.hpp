// Element types of tensors and of arithmetic.
#pragma once

#include "model/base/enum_array.hpp"
#include "model/base/quantity.hpp"

#include <optional>
#include <string_view>

namespace sextant {

// tf32 is a way to multiply, stored as fp32. mxfp8 and nvfp4 are block-scaled: their storage includes the scales
// (one byte for 32 elements; one byte for 16 elements). int32 is what integer products accumulate in.
enum class DataType { fp64, fp32, tf32, bf16, fp16, fp8, mxfp8, nvfp4, int32, int8, int4, int1 };
inline constexpr int data_type_count = static_cast<int>(DataType::int1) + 1;
inline constexpr auto all_data_types = enumerators<DataType, data_type_count>();

std::string_view to_text(DataType);
std::optional<DataType> parse_data_type(std::string_view);

// What only inference computes in: weights are stored so, and products add up in int32.
constexpr bool is_quantized(DataType type) { return type == DataType::int8 || type == DataType::int4 || type == DataType::int1; }

// Storage of one element, scales included.
constexpr Bytes size_of(DataType type) {
    switch (type) {
        case DataType::fp64: return Bytes::from_si(8);
        case DataType::fp32:
        case DataType::tf32:
        case DataType::int32: return Bytes::from_si(4);
        case DataType::bf16:
        case DataType::fp16: return Bytes::from_si(2);
        case DataType::fp8:
        case DataType::int8: return Bytes::from_si(1);
        case DataType::mxfp8: return Bytes::from_si(1 + 1.0 / 32);
        case DataType::nvfp4: return Bytes::from_si(0.5 + 1.0 / 16);
        case DataType::int4: return Bytes::from_si(0.5);
        case DataType::int1: return Bytes::from_si(0.125);
    }
    return Bytes::from_si(4);
}

}  // namespace sextant
