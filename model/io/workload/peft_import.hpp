// The adapter_config.json of Hugging Face's PEFT: which low-rank adapters a model is fine-tuned with.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/workload/workload.hpp"

namespace sextant {

// Gives the workload the adapters. A product has one if the file names any of the modules that it is made of; what is not LoRA, and modules
// that have no adapters here (embeddings, heads, routers), are problems.
void import_peft_config(const JsonFile&, Workload&);

}  // namespace sextant
