// A trace as columns in HDF5: small on disk, and read by h5py, MATLAB, Julia or R without us. docs/trace_formats.md lists the columns.
//
// HDF5 keeps state of its own: call from one thread at a time.
#pragma once

#include "model/graph/trace.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace sextant {

inline constexpr std::string_view trace_schema = "trace/1";

// The file is written aside and then renamed. The same trace gives the same bytes. Throws BackendError when the disk refuses.
void write_trace_hdf5(const std::filesystem::path&, const Trace&);

// Throws InputError with everything that is wrong with the file. What it returns passes check_trace.
Trace read_trace_hdf5(const std::filesystem::path&);
Trace trace_from_hdf5(std::string_view bytes, const std::string& name);  // of a file that is in memory

}  // namespace sextant
