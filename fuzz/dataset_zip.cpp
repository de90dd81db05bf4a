#include "fuzz/dataset.hpp"
#include "fuzz/targets.hpp"

namespace sextant::fuzz {

void dataset_zip(std::string_view input) { read_as(zip_format(), input); }

}  // namespace sextant::fuzz
