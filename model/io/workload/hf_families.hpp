// What the config.json of each of Hugging Face's families says, by its model_type. For hf_import.cpp.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/workload/workload.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace sextant {

struct HfFamily {
    std::string_view model_type;
    void (*read)(ObjectReader&, TransformerSpec&);
    std::string_view left_out = {};  // of the model, for its source
};

std::vector<HfFamily> hf_families();  // by name

// Families that many train and no workload describes.
struct OtherHfFamily {
    std::string_view model_type;
    std::string_view has;      // that is not known here
    std::string_view nearest;  // of those that are known
};
std::span<const OtherHfFamily> other_hf_families();

}  // namespace sextant
