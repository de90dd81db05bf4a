// What the config.json of each of Hugging Face's families says, by its model_type. For hf_import.cpp.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/workload/workload.hpp"

#include <string_view>
#include <vector>

namespace sextant {

struct HfFamily {
    std::string_view model_type;
    void (*read)(ObjectReader&, TransformerSpec&);
    std::string_view left_out = {};  // of the model, for its source
};

std::vector<HfFamily> hf_families();  // by name

}  // namespace sextant
