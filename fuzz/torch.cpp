#include "fuzz/targets.hpp"
#include "model/io/torch/torch_import.hpp"
#include "model/io/workload/workload_reader.hpp"
#include "model/io/workload/workload_writer.hpp"

#include <cstdlib>

namespace sextant::fuzz {

// A program of torch.export; what is accepted must survive being written and read.
void torch(std::string_view input) {
    try {
        const std::string written = write_workload(import_torch(input, "model.json"));
        Diagnostics diagnostics;
        const auto read = read_workload_file(JsonFile::from_text(written, "written.json", diagnostics), find_workload);
        if (!read || write_workload(*read) != written) std::abort();
    } catch (const InputError&) {
    }
}

}  // namespace sextant::fuzz
