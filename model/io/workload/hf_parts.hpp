// What the readers of several families share, and the families, file by file. Internal to the import of Hugging Face's configs.
#pragma once

#include "model/io/workload/hf_families.hpp"
#include "model/io/workload/workload_fields.hpp"

#include <initializer_list>
#include <span>
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
// Whether any of these drops something; `otherwise`: of one that the config leaves out.
void read_dropout(ObjectReader&, std::initializer_list<std::string_view> keys, double otherwise, TransformerSpec&);
// As the config says, else as the family has it.
void read_tied(ObjectReader&, bool otherwise, TransformerSpec&);
// A decoder without biases, with RMS norms, rotary positions and an MLP with a gate, unless it has none.
void read_llama_like(ObjectReader&, TransformerSpec&, std::string_view ffn_key = "intermediate_size", bool gated = true);
void apply_llama_defaults(TransformerSpec&);

// All layers have the window but every `full`-th; newer configs name the kind of each. No window is stated as null.
void read_windows(ObjectReader&, std::int64_t full, TransformerSpec&);
void read_kinds_of_layers(ObjectReader&, TransformerSpec&);

// Of a model of text and images what reads text: `read` of its "text_config".
void read_text_part(ObjectReader&, TransformerSpec&, void (*read)(ObjectReader&, TransformerSpec&));

// How many experts, of how many columns, and how many of them a token goes to.
MixtureOfExperts& read_experts(ObjectReader&, std::string_view count_key, TransformerSpec&);

// The same of families whose experts have the width of an MLP.
MixtureOfExperts& read_few_experts(ObjectReader&, std::string_view count_key, TransformerSpec&);

inline constexpr std::string_view no_images = "; left out: what reads images";

std::span<const HfFamily> llama_families();
std::span<const HfFamily> gemma_families();
std::span<const HfFamily> gpt_families();
std::span<const HfFamily> hybrid_families();
std::span<const HfFamily> encoder_families();
std::span<const HfFamily> encoder_decoder_families();

}  // namespace sextant
