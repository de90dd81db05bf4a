// Scenarios to choose from: those that were open last, and those that come with the program; with a small picture of their step once it is
// known.
#pragma once

#include "gui/models/session.hpp"

#include <QAbstractListModel>

#include <vector>

namespace sextant::gui {

struct ScenarioGlance {
    Seconds step;
    Terms terms;
    bool fits = true;
};
struct ScenarioEntry {
    QString heading;  // of a group; there is nothing else then
    QString path, name, description;
    QString place{};  // file and folder, of a user's own
    std::optional<ScenarioGlance> glance;
};

class ScenarioListModel : public QAbstractListModel {
    Q_OBJECT

public:
    enum Role { is_heading = Qt::UserRole, path, description };

    using QAbstractListModel::QAbstractListModel;
    void set_entries(std::vector<ScenarioEntry>);
    // Shows only entries that contain every word of the text.
    void set_filter(const QString& text);

    [[nodiscard]] const ScenarioEntry& at(int row) const { return entries_[shown_[static_cast<std::size_t>(row)]]; }
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex&) const override;

private:
    void choose();

    std::vector<ScenarioEntry> entries_;
    std::vector<std::size_t> shown_;
    QString filter_;
};

// The entries without pictures, and with them, which takes some tenths of a second.
std::vector<ScenarioEntry> scenario_entries(const Library&, const QStringList& recent);
std::vector<ScenarioEntry> with_glances(Library&, std::vector<ScenarioEntry>);

}  // namespace sextant::gui
