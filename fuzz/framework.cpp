#include "fuzz/targets.hpp"
#include "model/io/profile/framework_reader.hpp"

namespace sextant::fuzz {

// The description of a framework.
void framework(std::string_view input) {
    Diagnostics diagnostics;
    const JsonFile file = JsonFile::from_text(input, "input.json", diagnostics);
    read_framework(file.root());
}

}  // namespace sextant::fuzz
