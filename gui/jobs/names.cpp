#include "gui/jobs/names.hpp"

#include "gui/models/text.hpp"
#include "model/io/profile/framework_reader.hpp"
#include "model/io/profile/profile_reader.hpp"

namespace sextant::gui {
namespace {

QStringList list_of(const std::vector<std::string>& names) {
    QStringList list;
    for (const std::string& name : names) list += q(name);
    return list;
}

}  // namespace

Names load_names() {
    Names names;
    try {
        Library library = open_library();
        for (const NamesOfKind& of : all_names(library.catalog)) {
            if (of.kind == "clusters") names[NameKind::clusters] = list_of(of.names);
            if (of.kind == "storage")
                names[NameKind::storages] = QStringList{QStringLiteral("shared"), QStringLiteral("local")} + list_of(of.names);
            if (of.kind == "devices") names[NameKind::devices] = list_of(of.names);
        }
        names[NameKind::frameworks] = list_of(framework_names(library.root));
        names[NameKind::models] = list_of(workload_names()) + list_of(convolutional_names());
        names[NameKind::models].removeDuplicates();
    } catch (const InputError&) {
    }  // names can be typed all the same
    return names;
}

}  // namespace sextant::gui
