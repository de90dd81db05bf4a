#include "model/io/workload/hf_families.hpp"

#include "model/io/workload/hf_parts.hpp"

#include <algorithm>

namespace sextant {

std::vector<HfFamily> hf_families() {
    std::vector<HfFamily> all;
    for (const auto& some : {llama_families(), gemma_families(), gpt_families(), hybrid_families(), encoder_families()})
        all.insert(all.end(), some.begin(), some.end());
    std::ranges::sort(all, {}, &HfFamily::model_type);
    return all;
}

}  // namespace sextant
