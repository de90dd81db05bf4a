// The config.json of a Hugging Face model, as a workload.
//
// Only families whose layers map one to one are read; what a family has beyond them (sinks of attention) is named in Workload::source.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/workload/workload.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sextant {

// Models take far longer texts than they are trained on most of the time: 131072 tokens, of which all but a last stage has 8192 (Llama 3,
// arXiv 2407.21783, section 3.4.2). An import takes no longer sequences unless it is told to.
inline constexpr std::int64_t longest_usual_sequence = 8192;

struct HfModel {
    Workload workload;
    std::int64_t positions = 0;  // how long a sequence may be, as the config states; 0: images
};

// The workload is usable when the file has no problem. Keys that say nothing about sizes are ignored. Sequences are of `seq_len` tokens;
// none: as long as the positions that the config states, up to longest_usual_sequence.
HfModel import_hf_config(const JsonFile&, std::optional<std::int64_t> seq_len = {});

// The values of "model_type" that import_hf_config knows.
std::vector<std::string_view> hf_model_types();

}  // namespace sextant
