#include "fuzz/dataset.hpp"
#include "fuzz/targets.hpp"

namespace sextant::fuzz {

void dataset_tfrecord(std::string_view input) { read_as(tfrecord_format(), input); }

}  // namespace sextant::fuzz
