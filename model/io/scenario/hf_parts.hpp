// What the readers of several families share, and the families with files of their own. Internal to the import of Hugging Face's configs.
#pragma once

#include "model/io/scenario/workload_fields.hpp"

#include <string>
#include <string_view>

namespace sextant {

void refuse(ObjectReader&, std::string_view key, std::string why);
// A flag that must have the one value that maps, where it is stated.
void must_be(ObjectReader&, std::string_view key, bool wanted);
// Which activation, by the names of transformers.activations; all variants of GELU cost the same here.
void read_activation(ObjectReader&, std::string_view key, std::string activation, bool gated, MlpKind&);
void read_sizes(ObjectReader&, TransformerSpec&, std::string_view ffn_key = "intermediate_size");
void read_vocabulary(ObjectReader&, std::string_view positions, bool tied, TransformerSpec&);

// How many experts, of how many columns, and how many of them a token goes to.
MixtureOfExperts& read_experts(ObjectReader&, std::string_view count_key, TransformerSpec&);

void nemotron_h(ObjectReader&, TransformerSpec&);
void mamba2(ObjectReader&, TransformerSpec&);

}  // namespace sextant
