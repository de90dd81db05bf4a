#include "gui/models/fields.hpp"

#include "gui/models/text.hpp"
#include "model/io/format/json_text.hpp"

#include <algorithm>

namespace sextant::gui {
namespace {

bool is_object(const ScenarioDocument& d, std::string_view path) {
    const std::optional<std::string> stated = stated_at(d, path);
    return stated && stated->starts_with('{');
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('.')); }

// The devices stay as many: dp takes what the other degrees leave. Nothing where they do not divide, or where dp follows anyhow.
void add_data_degree(const Session& session, const std::string& path, const QString& text, Edits& edits) {
    if (path != "plan.tp" && path != "plan.pp" && path != "plan.cp") return;
    if (!session.answer || !stated_at(session.document, "plan.dp")) return;
    Plan plan = session.answer->scenario.plan;
    const int devices = plan.devices();
    (path == "plan.tp" ? plan.tp : path == "plan.pp" ? plan.pp : plan.cp) = text.toInt();
    const int others = plan.tp * plan.pp * plan.cp;
    if (others > 0 && devices % others == 0) edits.emplace_back("plan.dp", std::to_string(devices / others));
}

// Two of three give the third.
void drop_accumulation(const Session& session, const std::string& path, Edits& edits) {
    const std::string other = path == "plan.micro_batch" ? "plan.global_batch" : path == "plan.global_batch" ? "plan.micro_batch" : "";
    if (!other.empty() && stated_at(session.document, other) && stated_at(session.document, "plan.grad_accum"))
        edits.emplace_back("plan.grad_accum", "null");
}

// Where none serves any more, nothing is to be said of servers.
void drop_servers(const Session& session, const std::string& path, const QString& text, Edits& edits) {
    if (path != "plan.data_parallel" || text.contains(QLatin1String("parameter_server"))) return;
    for (const char* of_servers : {"plan.parameter_servers", "plan.servers_on_workers"})
        if (stated_at(session.document, of_servers)) edits.emplace_back(of_servers, "null");
}

// How many devices are slow, and how slow, is stated together.
void complete_straggler(const Session& session, const std::string& path, Edits& edits) {
    if (stated_at(session.document, "hardware.straggler")) return;
    if (path == "hardware.straggler.speed") edits.emplace_back("hardware.straggler.devices", "1");
}

}  // namespace

const Field* field_at(const std::string& path) {
    for (const FieldSection& section : field_sections())
        for (const Field& field : section.fields)
            if (field.path == path) return &field;
    return nullptr;
}

std::string path_in(const ScenarioDocument& d, const Field& field) {
    return !field.inside.empty() && is_object(d, parent_of(field.inside)) ? field.inside : field.path;
}

bool covers(const ScenarioDocument& d, const Field& field, const QString& place) {
    const QString path = q(path_in(d, field));
    return place == path || place.startsWith(path + QLatin1Char('.'));
}

bool is_of_a_field(const ScenarioDocument& d, const QString& place) {
    return std::ranges::any_of(field_sections(), [&](const FieldSection& section) {
        return std::ranges::any_of(section.fields, [&](const Field& field) { return covers(d, field, place); });
    });
}

std::optional<QString> stated_in(const ScenarioDocument& d, const Field& field) {
    const std::optional<std::string> stated = stated_at(d, path_in(d, field));
    return stated ? std::optional(q(*stated)) : std::nullopt;
}

std::string json_of(const Field& field, const QString& text) {
    const std::string plain = text.trimmed().toStdString();
    switch (field.kind) {
        case FieldKind::order: {
            QStringList words;
            for (const QString& word : text.split(QStringLiteral(", "))) words += q(json_text(word.toStdString()));
            return '[' + words.join(QLatin1Char(',')).toStdString() + ']';
        }
        case FieldKind::word:
        case FieldKind::name:
        case FieldKind::quantity: return json_text(plain);
        case FieldKind::degree:
        case FieldKind::number:
        case FieldKind::flag: return plain;
    }
    return plain;
}

Edits edits_for(const Session& session, const Field& field, const QString& text, bool keeps_devices) {
    Edits edits{{path_in(session.document, field), json_of(field, text)}};
    if (keeps_devices) add_data_degree(session, field.path, text, edits);
    drop_accumulation(session, field.path, edits);
    drop_servers(session, field.path, text, edits);
    complete_straggler(session, field.path, edits);
    return edits;
}

Edits edits_without(const ScenarioDocument& d, const Field& field) {
    return {{field.whole.empty() ? path_in(d, field) : field.whole, "null"}};
}

}  // namespace sextant::gui
