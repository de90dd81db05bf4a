// A series as a line of blocks, each as high as its value: " ▁▂▃▄▅▆▇█".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sextant {

// Values from 0 to 1; what is not nothing is never drawn as nothing. One character for each value.
std::string heat_strip(const std::vector<double>& values);

// The mean of each of at most `columns` equal parts of a series.
std::vector<double> averaged(const std::vector<double>& series, std::size_t columns);

}  // namespace sextant
