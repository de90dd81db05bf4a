#include "fuzz/targets.hpp"
#include "fuzz/written.hpp"
#include "model/io/torch/torch_import.hpp"

namespace sextant::fuzz {

// A program of torch.export; what is accepted must survive being written and read.
void torch(std::string_view input) {
    try {
        check_written(import_torch(input, "model.json"));
    } catch (const InputError&) {
    }
}

}  // namespace sextant::fuzz
