// What fio measured (`fio --output-format=json`), as a probe of storage.
#pragma once

#include "model/calibrate/storage_fit.hpp"
#include "model/io/format/json_reader.hpp"

#include <string>
#include <string_view>

namespace sextant {

// Of jobs `read` and `write` the bandwidth by their numbers of jobs; of `randread` the latency where one request is under way at a time,
// else the operations per second. Other kinds of jobs are left out, and said. Notes that fio printed around its JSON are passed over.
// `name` is the file's, for diagnostics.
StorageProbe read_fio(std::string_view text, const std::string& name, Diagnostics&);

}  // namespace sextant
