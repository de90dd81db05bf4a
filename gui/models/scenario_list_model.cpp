#include "gui/models/scenario_list_model.hpp"

#include "gui/models/text.hpp"

#include <QFileInfo>

#include <algorithm>
#include <set>

namespace sextant::gui {
namespace {

ScenarioEntry entry_of(const ScenarioTitle& title) {
    return {.heading = {},
            .path = QString::fromStdString(title.file.string()),
            .name = q(title.name),
            .description = q(title.description),
            .glance = std::nullopt};
}

bool matches(const ScenarioEntry& entry, const QStringList& words) {
    const QString file = entry.path.section(QLatin1Char('/'), -1);
    return has_all(QStringList{entry.name, entry.description, file}.join(QLatin1Char('\n')), words);
}

// A published run is called by its row.
std::optional<ScenarioTitle> recent_title(const std::string& path) {
    const auto row = row_named(path);
    return row ? ScenarioTitle{path, row->id, "A published run, as it was opened"} : title_of(path);
}

std::set<std::string> scenarios_of_lessons(const Library& library) {
    std::set<std::string> names;
    for (const Lesson& lesson : bundled_lessons(library))
        for (const LessonStep& step : lesson.steps) names.insert(step.scenario);
    return names;
}

}  // namespace

void ScenarioListModel::set_entries(std::vector<ScenarioEntry> entries) {
    beginResetModel();
    entries_ = std::move(entries);
    choose();
    endResetModel();
}

void ScenarioListModel::set_filter(const QString& text) {
    beginResetModel();
    filter_ = text;
    choose();
    endResetModel();
}

// A heading is shown where something below it is.
void ScenarioListModel::choose() {
    const QStringList words = words_of(filter_);
    shown_.clear();
    std::optional<std::size_t> heading;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (!entries_[i].heading.isEmpty()) {
            heading = i;
        } else if (matches(entries_[i], words)) {
            if (heading) shown_.push_back(*std::exchange(heading, std::nullopt));
            shown_.push_back(i);
        }
    }
}

int ScenarioListModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(shown_.size()); }

QVariant ScenarioListModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const ScenarioEntry& e = at(index.row());
    switch (role) {
        case Qt::DisplayRole:
        case Qt::AccessibleTextRole: return e.heading.isEmpty() ? e.name : e.heading;
        case Qt::ToolTipRole:
            return e.heading.isEmpty() ? QStringLiteral("%1<br>%2").arg(e.description.toHtmlEscaped(), e.path.toHtmlEscaped()) : QString();
        case path: return e.path;
        case description: return e.description;
        case is_heading: return !e.heading.isEmpty();
        default: return {};
    }
}

Qt::ItemFlags ScenarioListModel::flags(const QModelIndex& index) const {
    if (!index.isValid()) return Qt::NoItemFlags;
    return at(index.row()).heading.isEmpty() ? Qt::ItemIsSelectable | Qt::ItemIsEnabled : Qt::ItemIsEnabled;
}

std::vector<ScenarioEntry> scenario_entries(const Library& library, const QStringList& recent) {
    std::vector<ScenarioEntry> entries;
    const auto heading = [&](const QString& text) {
        entries.push_back({.heading = text, .path = {}, .name = {}, .description = {}, .glance = {}});
    };
    heading(QStringLiteral("Open last"));
    for (const QString& file : recent)
        if (const auto title = recent_title(file.toStdString())) {
            entries.push_back(entry_of(*title));
            entries.back().place = QStringLiteral("%1 in %2").arg(QFileInfo(file).fileName(), QFileInfo(file).absolutePath());
        }
    std::vector<ScenarioTitle> bundled = bundled_scenarios(library);
    const auto words_first = [](const ScenarioTitle& t) { return std::pair(t.name < "A", t.name); };
    std::ranges::stable_sort(bundled, {}, words_first);
    const std::set<std::string> in_lessons = scenarios_of_lessons(library);
    const auto first = std::ranges::stable_partition(bundled, [&](const ScenarioTitle& t) { return !in_lessons.contains(t.file.stem()); });
    heading(QStringLiteral("Training jobs"));
    for (auto t = bundled.begin(); t != first.begin(); ++t) entries.push_back(entry_of(*t));
    heading(QStringLiteral("Of the lessons"));
    for (auto t = first.begin(); t != bundled.end(); ++t) entries.push_back(entry_of(*t));
    return entries;
}

std::vector<ScenarioEntry> with_glances(Library& library, std::vector<ScenarioEntry> entries) {
    for (ScenarioEntry& e : entries) {
        if (!e.heading.isEmpty()) continue;
        try {
            const Estimate estimated = estimate(prepare(load_scenario(library, e.path.toStdString())));
            e.glance = ScenarioGlance{estimated.step, estimated.terms, estimated.fits()};
        } catch (const InputError&) {
        }  // opening it will tell what is wrong
    }
    return entries;
}

}  // namespace sextant::gui
