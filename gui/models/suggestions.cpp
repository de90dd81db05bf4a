#include "gui/models/suggestions.hpp"

#include "gui/models/text.hpp"
#include "model/io/scenario/scenario_edits.hpp"

#include <algorithm>

namespace sextant::gui {
namespace {

// Words of the path itself, for what has no field.
QString name_at(const std::string& path) {
    return capitalized(q(path).section(QLatin1Char('.'), -1).replace(QLatin1Char('_'), QLatin1Char(' ')));
}

// What has no field of its own, or is more than its value says.
QString in_other_words(const std::string& path, const std::string& value) {
    if (path == "plan.shard_group" && value == "null") return QStringLiteral("Shards over all ranks");
    if (path == "plan.precision.reduction") return QStringLiteral("Gradients added up in ") + q(value);
    if (path == "hardware.straggler") return QStringLiteral("Without the slow devices");
    if (path == "framework.native_build") return QStringLiteral("Built for these cores");
    return {};
}

// A field as the editor calls it, at its value: "CUDA graph on". Nothing where the scenario has that anyhow.
QString in_editor_words(const Scenario& now, const Scenario& then, const std::string& path, const std::string& value) {
    if (path == "plan.grad_accum") return {};  // follows from the batches
    if (path == "hardware") {                  // another cluster, and so many of its nodes
        QStringList words{in_editor_words(now, then, "hardware.cluster", value), in_editor_words(now, then, "hardware.nodes", value)};
        words.removeAll(QString());
        return words.join(QStringLiteral(", "));
    }
    if (const QString words = in_other_words(path, value); !words.isEmpty()) return words;
    const Field* field = field_at(path);
    const QString is = field ? field->resolved(then) : q(value);
    if (field && field->resolved(now) == is) return {};
    const QString name = field ? field->label : name_at(path);
    return name + QLatin1Char(' ') + (is == "true" ? QStringLiteral("on") : is == "false" ? QStringLiteral("off") : is);
}

// In the editor the number of micro-batches is left to follow.
void drop_accumulation(const Plan& plan, Edits& edits) {
    const auto stated = std::ranges::find(edits, "plan.grad_accum", &Edits::value_type::first);
    if (stated == edits.end()) return;
    stated->second = "null";
    edits.emplace_back("plan.micro_batch", std::to_string(plan.micro_batch));
    edits.emplace_back("plan.global_batch", std::to_string(plan.global_batch));
}

Suggestion suggestion_of(const PricedSetting& s, const Scenario& now, bool fits) {
    Suggestion suggestion{{}, quantity(s.step), {}, edits_between(now, s.job)};
    QStringList changes;
    for (const auto& [path, value] : suggestion.edits)
        if (const QString change = in_editor_words(now, s.job, path, value); !change.isEmpty()) changes += change;
    drop_accumulation(s.job.plan, suggestion.edits);
    suggestion.change = changes.join(QStringLiteral(", "));
    suggestion.gain = !fits ? QStringLiteral("fits in %1").arg(quantity(s.memory))
                            : QStringLiteral("\u2212") + percent(s.gain) + (s.per_sample ? QStringLiteral(" a sample") : QString());
    return suggestion;
}

}  // namespace

std::vector<Suggestion> suggestions(const Report& r, std::size_t most) {
    std::vector<Suggestion> list;
    for (const auto* settings : {&r.bottleneck.settings, &r.bottleneck.elsewhere})
        for (std::size_t i = 0; i < std::min(most, settings->size()); ++i)
            list.push_back(suggestion_of((*settings)[i], r.job, r.estimate.fits()));
    return list;
}

}  // namespace sextant::gui
