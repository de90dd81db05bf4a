// What integers a block reads from the data.
#pragma once

#include "backend/exec/device.hpp"
#include "model/workload/network.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sextant {

// How many values such an input has: the rows of the table that it chooses from, or the classes of a loss.
std::int64_t values_of_index(const OperatorGraph&, TensorId input);
bool is_label(const OperatorGraph&, TensorId input);

// By block, by input: how many values it has, 0 where it is no integer. Of the whole network: a rank may hold a part of the table.
std::vector<std::vector<std::int64_t>> values_of_indices(const Network& serial);

// One integer of a sample, counted from the first of a micro-batch: of a position in its sequence, or, without one, of all of the sample.
using IndexAt = std::function<std::int64_t(std::int64_t sample, std::optional<std::int64_t> position)>;

// Such an input of a micro-batch of `samples` sequences of so many tokens, on a rank that has this part of every sequence. A label is what
// follows a position; where there is one for a sample, its class. Labels of some of the positions are of positions spread evenly. What is
// further ahead than the label of the last position is that label: nothing depends on it.
Array index_input(ComputeDevice&, const OperatorGraph&, TensorId input, ContextCut, std::int64_t sequence, std::int64_t samples,
                  const IndexAt&);

}  // namespace sextant
