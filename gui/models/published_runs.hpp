// Published training runs to choose from, each beside its prediction.
#pragma once

#include "model/sextant.hpp"

#include <QAbstractTableModel>

#include <functional>
#include <memory>
#include <vector>

namespace sextant::gui {

struct PublishedEntry {
    QString path;  // "FILE#ROW", as it is opened
    RowResult row;
};
// What the width of a column goes by.
struct LongestText {
    QString whole;
    QString line;  // of the texts as two lines each
};
struct PublishedRuns {
    std::vector<PublishedEntry> entries;
    QString verdict;                   // how far off predictions are of those that nothing was fitted to
    std::vector<LongestText> longest;  // of each column
};
// Predicts them all, which takes seconds: for worker threads. Throws InputError where a file cannot be read.
PublishedRuns published_runs(Library&, const std::function<void(std::size_t done, std::size_t total)>& progress);

class PublishedRunsModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Role { path = Qt::UserRole, order /* what a column is sorted by */ };

    using QAbstractTableModel::QAbstractTableModel;
    void set_runs(std::shared_ptr<const PublishedRuns>);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;

private:
    std::shared_ptr<const PublishedRuns> runs_;
};

}  // namespace sextant::gui
