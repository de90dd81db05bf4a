// The best plans of a search in rows, and the scenario's own among them; the first column says which are held beside one another, and which
// is open.
#pragma once

#include "gui/models/plan_findings.hpp"

#include <QAbstractTableModel>

#include <set>

namespace sextant::gui {

class PlanTableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;
    void set_findings(std::shared_ptr<const PlanFindings>);
    void set_open(std::optional<std::size_t> plan);

    // The plan of a row.
    [[nodiscard]] const FoundPlan& at(int row) const { return findings_->plans[static_cast<std::size_t>(row)]; }
    [[nodiscard]] bool is_empty() const { return rows_ == 0; }
    [[nodiscard]] Seconds longest_step() const;
    // What all plans have, which has no column: "recompute none", "offload none".
    [[nodiscard]] const QStringList& in_common() const { return in_common_; }
    static constexpr int terms_column = 2;

    // Up to four plans can be held beside one another.
    static constexpr std::size_t most_beside = 4;
    [[nodiscard]] const std::set<std::size_t>& beside() const { return beside_; }
    void set_beside(std::size_t plan, bool on);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex&) const override;
    bool setData(const QModelIndex&, const QVariant&, int role = Qt::EditRole) override;

signals:
    void beside_changed();

private:
    struct Column {
        QString heading, tip;
        std::vector<QString> cells;
        bool figures = true;
    };
    void fill();
    [[nodiscard]] QString name_in(std::size_t row) const;
    [[nodiscard]] const Column* column_at(int section) const;  // null where it is the number or the terms

    std::shared_ptr<const PlanFindings> findings_;
    int rows_ = 0;
    std::vector<Column> columns_;
    QStringList in_common_;
    std::set<std::size_t> beside_;
    std::optional<std::size_t> open_;
};

}  // namespace sextant::gui
