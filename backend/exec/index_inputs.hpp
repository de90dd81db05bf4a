// The integers that a block reads from the data: tokens and labels.
#pragma once

#include "backend/exec/device.hpp"
#include "model/workload/network.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sextant {

// How many values such an input can have: the rows of the table into which it points, or the classes of a loss.
std::int64_t values_of_index(const OperatorGraph&, TensorId input);
bool is_label(const OperatorGraph&, TensorId input);

// The same for every input of every block, 0 where it is no integer. It takes the whole network, because a rank may hold a part of a table.
std::vector<std::vector<std::int64_t>> values_of_indices(const Network& serial);

// The losses of an image each pixel of which has a label, [samples, 1, height, width]; null where samples or tokens have labels.
const Tensor* losses_of_pixels(const Network& serial);

// The integer at a position of a sample, which is a token's or a pixel's, or, without a position, that of the whole sample. Samples count
// from the first of a micro-batch.
using IndexAt = std::function<std::int64_t(std::int64_t sample, std::optional<std::int64_t> position)>;

// Such an input of a micro-batch of `samples` sequences of `sequence` tokens, on a rank that has this part of every sequence, or of images,
// where `sequence` is 0. The label of a token's position is the token behind it; a sample with a single label has its class. Where only
// some positions have labels, these positions are spread evenly. Positions further ahead than the last label get that label: nothing
// depends on it.
Array index_input(ComputeDevice&, const OperatorGraph&, TensorId input, ContextCut, std::int64_t sequence, std::int64_t samples,
                  const IndexAt&);

}  // namespace sextant
