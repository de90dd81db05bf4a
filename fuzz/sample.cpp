#include "backend/storage/codec.hpp"
#include "fuzz/targets.hpp"
#include "model/base/diagnostics.hpp"

namespace sextant::fuzz {

// A file as the picture or array of a sample.
void sample(std::string_view input) {
    try {
        decode({Blob(input.begin(), input.end()), {}, 0});
    } catch (const InputError&) {
    }
}

}  // namespace sextant::fuzz
