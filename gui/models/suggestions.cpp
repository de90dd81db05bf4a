#include "gui/models/suggestions.hpp"

#include "gui/models/text.hpp"
#include "model/report/levers.hpp"

#include <algorithm>

namespace sextant::gui {
namespace {

const Field* field_at(const std::string& path) {
    for (const FieldSection& section : field_sections())
        for (const Field& field : section.fields)
            if (field.path == path) return &field;
    return nullptr;
}

// Words of the path itself, for what has no field.
QString name_at(const std::string& path) {
    return capitalised(q(path).section(QLatin1Char('.'), -1).replace(QLatin1Char('_'), QLatin1Char(' ')));
}

// "plan.tp=8" as --set takes it.
std::pair<std::string, std::string> edit_of(const std::string& set) {
    const std::size_t at = set.find('=');
    return {set.substr(0, at), set.substr(at + 1)};
}

// A field as the editor calls it, at its value: "CUDA graph on". Nothing where the scenario has that anyhow.
QString in_editor_words(const Scenario& now, const std::string& path, const std::string& value) {
    const Field* field = field_at(path);
    if (field && field->resolved(now) == q(value)) return {};
    if (path == "plan.grad_accum") return {};  // follows from the batches
    if (path == "plan.shard_group" && value == "null") return QStringLiteral("Shards over all ranks");
    if (path == "plan.precision" && value.starts_with('{'))
        return QStringLiteral("Gradients added up in ") +
               q(value).section(QStringLiteral("\"reduction\": \""), 1).section(QLatin1Char('"'), 0, 0);
    const QString name = field ? field->label : name_at(path);
    return name + QLatin1Char(' ') + (value == "true" ? QStringLiteral("on") : value == "false" ? QStringLiteral("off") : q(value));
}

Suggestion suggestion_of(const PricedSetting& s, const Scenario& now, bool fits) {
    Suggestion suggestion{{}, quantity(s.step), {}, {}};
    QStringList changes;
    for (const std::string& set : s.set) {
        suggestion.edits.push_back(edit_of(set));
        const auto& [path, value] = suggestion.edits.back();
        if (const QString change = in_editor_words(now, path, value); !change.isEmpty()) changes += change;
    }
    suggestion.change = changes.join(QStringLiteral(", "));
    suggestion.gain = !fits ? QStringLiteral("fits in %1").arg(quantity(s.memory))
                            : QStringLiteral("\u2212") + percent(s.gain) + (s.per_sample ? QStringLiteral(" a sample") : QString());
    return suggestion;
}

}  // namespace

std::vector<Suggestion> suggestions(const Report& r, const Scenario& now, std::size_t most) {
    std::vector<Suggestion> list;
    const std::vector<PricedSetting>& settings = r.bottleneck.settings;
    for (std::size_t i = 0; i < std::min(most, settings.size()); ++i) list.push_back(suggestion_of(settings[i], now, r.estimate.fits()));
    return list;
}

QString what_else_helps(const Report& r) {
    const Estimate& e = r.estimate;
    if (!e.fits_device()) return QStringLiteral("more devices, or %1 of memory in each").arg(quantity(e.peak_memory));
    if (!e.fits()) return QStringLiteral("more nodes to share it, or %1 of memory in each host").arg(quantity(e.host.total()));
    if (r.bottleneck.movers.empty()) return {};
    const auto lever = std::ranges::find(all_levers(), r.bottleneck.movers.front().resource, &Lever::resource);
    return lever == all_levers().end() ? QString() : q(lever->advice);
}

}  // namespace sextant::gui
