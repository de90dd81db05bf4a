#include "fuzz/written.hpp"

#include "model/io/workload/workload_reader.hpp"
#include "model/io/workload/workload_writer.hpp"

#include <cstdlib>

namespace sextant::fuzz {

void check_written(const Workload& workload) {
    const std::string written = write_workload(workload);
    Diagnostics diagnostics;
    const auto read = read_workload_file(JsonFile::from_text(written, "written.json", diagnostics), find_workload);
    if (!read || write_workload(*read) != written) std::abort();
}

}  // namespace sextant::fuzz
