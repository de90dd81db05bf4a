#include "gui/models/bundled.hpp"

#include "model/sextant.hpp"

namespace sextant::gui {

bool is_bundled(const std::filesystem::path& file) {
    try {
        return std::filesystem::weakly_canonical(file).parent_path() ==
               std::filesystem::weakly_canonical(open_library().root / "scenarios");
    } catch (const std::exception&) {
        return false;  // nothing is installed beside this program
    }
}

}  // namespace sextant::gui
