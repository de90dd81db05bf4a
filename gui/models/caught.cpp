#include "gui/models/caught.hpp"

#include <exception>

namespace sextant::gui {

std::vector<Diagnostic> problems_caught(const std::string& file) {
    try {
        throw;
    } catch (const InputError& e) {
        return e.diagnostics();
    } catch (const std::exception& e) {
        return {{file, "", "a defect in sextant itself, please report it: " + std::string(e.what()), ""}};
    }
}

}  // namespace sextant::gui
