#include "fuzz/dataset.hpp"
#include "fuzz/targets.hpp"

namespace sextant::fuzz {

void dataset_lmdb(std::string_view input) { read_as(lmdb_format(), input); }

}  // namespace sextant::fuzz
