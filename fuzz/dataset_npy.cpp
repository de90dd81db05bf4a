#include "fuzz/dataset.hpp"
#include "fuzz/targets.hpp"

namespace sextant::fuzz {

void dataset_npy(std::string_view input) { read_as(npy_format(), input); }

}  // namespace sextant::fuzz
