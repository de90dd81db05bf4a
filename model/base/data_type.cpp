#include "model/base/data_type.hpp"

#include "model/base/enum_names.hpp"

namespace sextant {

std::string_view to_text(DataType type) {
    static constexpr std::string_view names[data_type_count] = {"fp64",  "fp32",  "tf32",  "bf16", "fp16", "fp8",
                                                                "mxfp8", "nvfp4", "int32", "int8", "int4", "int1"};
    return names[static_cast<std::size_t>(type)];
}

std::optional<DataType> parse_data_type(std::string_view text) { return enumerator_named(text, all_data_types); }

}  // namespace sextant
