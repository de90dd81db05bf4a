#include "fuzz/dataset.hpp"
#include "fuzz/targets.hpp"

namespace sextant::fuzz {

void dataset_hdf5(std::string_view input) { read_as(hdf5_format(), input); }

}  // namespace sextant::fuzz
