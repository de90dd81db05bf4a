#include "model/base/provenance.hpp"

namespace sextant {

std::string_view to_text(SourceKind kind) {
    switch (kind) {
        case SourceKind::datasheet:
            return "datasheet";
        case SourceKind::measured:
            return "measured";
        case SourceKind::published:
            return "published";
        case SourceKind::estimated:
            return "estimated";
    }
    return "estimated";
}

}  // namespace sextant
