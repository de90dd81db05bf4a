#include "fuzz/targets.hpp"
#include "fuzz/written.hpp"
#include "model/io/workload/hf_import.hpp"

namespace sextant::fuzz {

// A Hugging Face config; what is accepted must survive being written and read.
void hf_config(std::string_view input) {
    Diagnostics diagnostics;
    const Workload workload = import_hf_config(JsonFile::from_text(input, "config.json", diagnostics)).workload;
    if (diagnostics.empty()) check_written(workload);
}

}  // namespace sextant::fuzz
