#include "fuzz/targets.hpp"
#include "fuzz/written.hpp"
#include "model/io/onnx/onnx_import.hpp"

namespace sextant::fuzz {

// An ONNX file; what is accepted must survive being written and read.
void onnx(std::string_view input) {
    try {
        check_written(import_onnx(input, "model.onnx"));
    } catch (const InputError&) {
    }
}

}  // namespace sextant::fuzz
