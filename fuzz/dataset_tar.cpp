#include "fuzz/dataset.hpp"
#include "fuzz/targets.hpp"

namespace sextant::fuzz {

void dataset_tar(std::string_view input) { read_as(tar_format(), input); }

}  // namespace sextant::fuzz
