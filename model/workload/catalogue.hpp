// What the catalogue of networks is made of, family by family. Internal to it: networks are found by name with find_workload.
#pragma once

#include "model/workload/workload.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace sextant {

enum class NetworkStyle { gpt, llama, hybrid, mpt, bert, t5, vit };

// One network: its style, its sizes, and what else sets it apart.
struct CatalogueEntry {
    std::string_view name, title, source;
    NetworkStyle style;
    std::int64_t layers, hidden, ffn_hidden, heads, kv_heads, vocab, seq_len;
    void (*adjust)(TransformerSpec&) = nullptr;
};

std::span<const CatalogueEntry> gpt_entries();
std::span<const CatalogueEntry> llama_entries();
std::span<const CatalogueEntry> hybrid_entries();
std::span<const CatalogueEntry> encoder_entries();

}  // namespace sextant
