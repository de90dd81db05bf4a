#include "fuzz/targets.hpp"
#include "model/io/profile/profile_reader.hpp"

namespace sextant::fuzz {

// A document as a hardware profile of whichever kind it says it is. The catalogue is empty: names in it resolve to nothing.
void profile(std::string_view input) {
    Diagnostics diagnostics;
    Catalog catalog = open_catalog({});
    const JsonFile file = JsonFile::from_text(input, "input.json", diagnostics);
    check_profile(catalog, file.root());
}

}  // namespace sextant::fuzz
