// What integers a block reads from the data.
#pragma once

#include "model/workload/network.hpp"

#include <cstdint>
#include <vector>

namespace sextant {

// How many values such an input has: the rows of the table that it chooses from, or the classes of a loss.
std::int64_t values_of_index(const OperatorGraph&, TensorId input);
bool is_label(const OperatorGraph&, TensorId input);

// By block, by input: how many values it has, 0 where it is no integer. Of the whole network: a rank may hold a part of the table.
std::vector<std::vector<std::int64_t>> values_of_indices(const Network& serial);

}  // namespace sextant
