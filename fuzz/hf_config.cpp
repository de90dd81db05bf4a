#include "fuzz/targets.hpp"
#include "model/io/workload/hf_import.hpp"
#include "model/io/workload/workload_reader.hpp"
#include "model/io/workload/workload_writer.hpp"

#include <cstdlib>

namespace sextant::fuzz {

// A Hugging Face config; what is accepted must survive being written and read.
void hf_config(std::string_view input) {
    Diagnostics diagnostics;
    const Workload workload = import_hf_config(JsonFile::from_text(input, "config.json", diagnostics)).workload;
    if (!diagnostics.empty()) return;
    const std::string written = write_workload(workload);
    const auto read = read_workload_file(JsonFile::from_text(written, "written.json", diagnostics), find_workload);
    if (!read || write_workload(*read) != written) std::abort();
}

}  // namespace sextant::fuzz
