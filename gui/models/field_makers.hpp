// Functions that make fields of the editor. Internal to field_list.cpp and plan_field_list.cpp.
#pragma once

#include "gui/models/fields.hpp"
#include "gui/models/text.hpp"
#include "model/io/scenario/plan_words.hpp"

#include <functional>
#include <set>
#include <string>

namespace sextant::gui {

// The values of an enumeration, each in its first spelling.
template <class E, std::size_t N>
QStringList words_in(const Word<E> (&words)[N]) {
    QStringList list;
    std::set<E> seen;
    for (const Word<E>& w : words)
        if (seen.insert(w.value).second) list += q(w.text);
    return list;
}

inline QString on_or_off(bool on) { return on ? QStringLiteral("true") : QStringLiteral("false"); }

inline Field quantity_field(std::string path, const QString& label, const QString& tip, std::function<QString(const Scenario&)> resolved) {
    return {.path = std::move(path), .label = label, .tip = tip, .kind = FieldKind::quantity, .resolved = std::move(resolved)};
}

inline Field number_field(std::string path, const QString& label, const QString& tip, std::function<QString(const Scenario&)> resolved) {
    Field f = quantity_field(std::move(path), label, tip, std::move(resolved));
    f.kind = FieldKind::number;
    return f;
}

inline Field named(std::string path, const QString& label, const QString& tip, NameKind names,
                   std::function<QString(const Scenario&)> resolved) {
    Field f = quantity_field(std::move(path), label, tip, std::move(resolved));
    f.kind = FieldKind::name;
    f.names = names;
    return f;
}

// In plan_field_list.cpp: the section of the plan, and that of the settings that few plans change.
FieldSection plan_section();
FieldSection more_section();

}  // namespace sextant::gui
