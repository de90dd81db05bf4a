#include "gui/models/bundled.hpp"

#include "model/sextant.hpp"

namespace sextant::gui {

std::optional<std::filesystem::path> documentation(const std::filesystem::path& data_root) {
    for (const auto& place : {data_root, data_root.parent_path() / "doc" / "sextant"})
        if (std::filesystem::exists(place / "docs" / "gui.md")) return place / "README.md";
    return std::nullopt;
}

bool is_bundled(const std::filesystem::path& file) {
    try {
        return std::filesystem::weakly_canonical(file).parent_path() ==
               std::filesystem::weakly_canonical(open_library().root / "scenarios");
    } catch (const std::exception&) {
        return false;  // nothing is installed beside this program
    }
}

}  // namespace sextant::gui
