#include "fuzz/targets.hpp"
#include "model/io/format/json_reader.hpp"

namespace sextant::fuzz {

// A document whose root, or whose every member, is read as a quantity.
void json_quantity(std::string_view input) {
    Diagnostics diagnostics;
    const JsonFile file = JsonFile::from_text(input, "input.json", diagnostics);
    const JsonNode root = file.root();
    if (!root.value) return;
    double si = 0;
    read_quantity(root, unit_table<Bandwidth>(), positive, si);
    for (const auto& [key, node] : root.members()) read_quantity(node, unit_table<Seconds>(), not_negative, si);
}

}  // namespace sextant::fuzz
