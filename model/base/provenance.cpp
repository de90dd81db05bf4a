#include "model/base/provenance.hpp"

namespace sextant {

std::string_view to_text(SourceKind kind) {
    static constexpr std::string_view names[] = {"datasheet", "measured", "published", "estimated"};
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace sextant
