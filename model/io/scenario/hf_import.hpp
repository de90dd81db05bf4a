// The config.json of a Hugging Face model, as a workload.
//
// Only families whose layers map one to one are read; what a family has beyond them (sinks of attention) is named in Workload::source. The
// sequence is as long as the positions that the config states: override seq_len to train shorter.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/workload/workload.hpp"

#include <string_view>
#include <vector>

namespace sextant {

// The workload is usable when the file has no problem. Keys that say nothing about sizes are ignored.
Workload import_hf_config(const JsonFile&);

// The values of "model_type" that import_hf_config knows.
std::vector<std::string_view> hf_model_types();

}  // namespace sextant
