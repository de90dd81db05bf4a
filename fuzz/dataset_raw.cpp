#include "fuzz/dataset.hpp"
#include "fuzz/targets.hpp"

namespace sextant::fuzz {

void dataset_raw(std::string_view input) { read_as(raw_format(), input); }

}  // namespace sextant::fuzz
