// A workload as its file has it.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/io/workload/workload_reader.hpp"
#include "model/io/workload/workload_writer.hpp"

#include <gtest/gtest.h>

namespace sextant {

// What comes back of a workload that was written, which is to be the same. Throws InputError where it does not read.
inline Workload expect_reads_back(const Workload& workload) {
    const std::string written = write_workload(workload);
    Diagnostics diagnostics;
    const auto read = read_workload_file(JsonFile::from_text(written, "written.json", diagnostics), find_workload);
    diagnostics.throw_if_any();
    EXPECT_EQ(write_workload(read.value()), written);
    EXPECT_EQ(size_of(*read).parameters, size_of(workload).parameters);
    EXPECT_EQ(size_of(*read).forward, size_of(workload).forward);
    return *read;
}

}  // namespace sextant
