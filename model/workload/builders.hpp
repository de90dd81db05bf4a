// One builder per family of networks, and the checks they share. Internal to model/workload; others call build_network.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/workload/workload.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// Each throws InputError with every problem when the network or its cut is impossible.
Network build_transformer(const TransformerSpec&, const Shard&);
Network build_convolutional(const ConvolutionalSpec&, const Shard&);
Network build_mlp(const MlpSpec&, const Shard&);
Network build_chain(const ChainSpec&, const Shard&);
Network build_graph(const GraphSpec&, const Shard&);

std::vector<ConvolutionalSpec> convolutional_specs();  // one for every name, with the images and classes that it was made for

// Every extent of a network lies in [1, largest_extent], so that no product of a few of them overflows.
inline constexpr std::int64_t largest_extent = 100'000'000;
inline constexpr std::int64_t largest_micro_batch = 1'000'000;

// Each adds a diagnostic when the condition does not hold. `name` and `extent_name` are words for people: "tp", "attention heads".
void require_between(Diagnostics&, std::string pointer, std::string_view name, std::int64_t value, std::int64_t low, std::int64_t high);
void require_divides(Diagnostics&, std::string pointer, std::string_view name, std::int64_t divisor, std::string_view extent_name,
                     std::int64_t extent);
void check_shard(Diagnostics&, const Shard&);  // that degrees and the micro-batch are in range; each builder checks what they cut
// Refuses context, expert and sequence parallelism, for networks that cannot be cut in these ways.
void refuse_transformer_cuts(Diagnostics&, const Shard&, std::string_view family);

}  // namespace sextant
