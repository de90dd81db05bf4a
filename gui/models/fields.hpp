// The fields of a scenario that the editor shows: where each is in the document, how its value is written, and what value holds where the
// document states none.
#pragma once

#include "gui/models/session.hpp"

#include <QString>
#include <QStringList>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sextant::gui {

enum class FieldKind {
    degree,    // a whole number that is usually doubled or halved
    word,      // one of a few words
    order,     // an order of a few words, as a list: "tensor, data"
    name,      // the name of something in the library, which gives the `choices` (NameKind)
    quantity,  // a number with its unit
    number,
    flag,
};
enum class NameKind { none, models, clusters, devices, frameworks, storages };

struct Field {
    std::string path;  // in the words of --set
    QString label, tip;
    FieldKind kind = FieldKind::degree;
    std::function<QString(const Scenario&)> resolved;  // the value that holds, stated or derived
    QStringList choices{};
    NameKind names = NameKind::none;
    std::string inside{};  // where it stands instead if what it belongs to is written as an object
    bool needed = false;   // it cannot be removed
    bool small = false;    // three of them fit into a line
    bool wide = false;     // it takes a line of its own, below its name
    std::string whole{};   // what is taken away with it
};
struct FieldSection {
    QString title;
    std::vector<Field> fields;
    bool open = true;  // at first
};
const std::vector<FieldSection>& field_sections();
const Field* field_at(const std::string& path);  // null where the editor shows none

// The path of the field in this document.
std::string path_in(const ScenarioDocument&, const Field&);

// Whether a place in the document ("hardware.nodes") is that of the field, or inside it.
bool covers(const ScenarioDocument&, const Field&, const QString& place);
// Whether any field covers this place.
bool is_of_a_field(const ScenarioDocument&, const QString& place);

// The value that the document states; none where it follows from other fields.
std::optional<QString> stated_in(const ScenarioDocument&, const Field&);

// The text of a field as JSON.
std::string json_of(const Field&, const QString& text);

// Edits, as --set would make them.
using Edits = std::vector<std::pair<std::string, std::string>>;
// The edits that remove a field, so that its derived value holds again.
Edits edits_without(const ScenarioDocument&, const Field&);
// The edits that change one field and the fields that depend on it: micro-batch, global batch and accumulation determine each other;
// without parameter servers their settings are removed; and with `keeps_devices` dp follows from the other degrees.
Edits edits_for(const Session&, const Field&, const QString& text, bool keeps_devices);

}  // namespace sextant::gui
