// What fio measured (`fio --output-format=json`), as a probe of storage.
#pragma once

#include "model/calibrate/storage_fit.hpp"
#include "model/io/format/json_reader.hpp"

namespace sextant {

// Of jobs `read` and `write` the bandwidth by their numbers of jobs; of `randread` the latency where one request is under way at a time,
// else the operations per second. Other kinds of jobs are left out, and said. What is wrong goes to the file's diagnostics.
StorageProbe read_fio(const JsonFile&);

}  // namespace sextant
