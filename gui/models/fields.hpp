// The fields of a scenario that the editor shows: where each stands in the document, how it is written, and what holds where it is not
// stated.
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
    degree,    // a whole number that people double and halve
    word,      // one of a few
    order,     // of a few, as a list: "tensor, data"
    name,      // of something known by name: `choices` come with the library (NameKind)
    quantity,  // a number with its unit
    number,
    flag,
};
enum class NameKind { none, models, clusters, devices, frameworks, storages };

struct Field {
    std::string path;  // in the words of --set
    QString label, tip;
    FieldKind kind = FieldKind::degree;
    std::function<QString(const Scenario&)> resolved;  // what holds, whether it is stated or follows
    QStringList choices{};
    NameKind names = NameKind::none;
    std::string inside{};  // where it stands instead if what it belongs to is written as an object
    bool needed = false;   // cannot be taken away
    bool small = false;    // three of them fit beside one another
    bool wide = false;     // takes a line for itself, below its name
    std::string whole{};   // what is taken away with it
};
struct FieldSection {
    QString title;
    std::vector<Field> fields;
    bool open = true;  // at first
};
const std::vector<FieldSection>& field_sections();

// Where the field stands in this document.
std::string path_in(const ScenarioDocument&, const Field&);

// Whether a place in the document ("hardware.nodes") is the field's, or inside it.
bool covers(const ScenarioDocument&, const Field&, const QString& place);
// Whether there is such a field.
bool is_of_a_field(const ScenarioDocument&, const QString& place);

// The value as the document states it; none where it follows from others.
std::optional<QString> stated_in(const ScenarioDocument&, const Field&);

// What the text of a field is in JSON.
std::string json_of(const Field&, const QString& text);

// Edits, as --set would make them.
using Edits = std::vector<std::pair<std::string, std::string>>;
// The field is taken away: what follows without it holds again.
Edits edits_without(const ScenarioDocument&, const Field&);
// One field is changed, and with it what cannot stay: of micro-batch, global batch and accumulation two give the third; without servers
// nothing is said of them; and where `keeps_devices`, dp follows from the other degrees.
Edits edits_for(const Session&, const Field&, const QString& text, bool keeps_devices);

}  // namespace sextant::gui
