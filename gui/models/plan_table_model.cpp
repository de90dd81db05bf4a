#include "gui/models/plan_table_model.hpp"

#include "gui/models/fields.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/text.hpp"
#include "model/io/search/plan_columns.hpp"

#include <algorithm>

namespace sextant::gui {
namespace {

// What the editor says of a field of the plan; nothing of other columns.
QString tip_of(std::string title) {
    std::ranges::replace_if(
        title, [](char c) { return c == ' ' || c == '-'; }, '_');
    const Field* field = field_at("plan." + title);
    return field ? QStringLiteral("%1: %2").arg(field->label, field->tip) : QString();
}

}  // namespace

void PlanTableModel::set_findings(std::shared_ptr<const PlanFindings> findings) {
    if (findings == findings_) return;
    beginResetModel();
    findings_ = std::move(findings);
    fill();
    endResetModel();
    emit beside_changed();
}

// What is only on the front can be had from the picture.
void PlanTableModel::fill() {
    columns_.clear();
    in_common_.clear();
    beside_.clear();
    rows_ = findings_ && !findings_->answer.best.empty() ? static_cast<int>(findings_->listed) : 0;
    if (rows_ == 0) return;
    std::vector<const PlanChoice*> choices;
    std::vector<RankedPlan> listed;  // without their reports
    for (int r = 0; r < rows_; ++r) {
        const FoundPlan& plan = at(r);
        choices.push_back(&plan.choice);
        listed.push_back({plan.choice, {}, {}, {}});
        if (plan.rank) listed.back().other_placements = findings_->answer.best[static_cast<std::size_t>(*plan.rank)].other_placements;
    }
    const auto add = [&](const PlanColumn& from) {
        Column column{q(from.title), tip_of(from.title), {}, from.align == Align::right};
        for (const std::string& cell : from.cells)
            column.cells.push_back(q(cell).replace(QLatin1Char('_'), QStringLiteral("_\u200b")));  // where a long word may be broken
        columns_.push_back(std::move(column));
    };
    for (const PlanColumn& c : outcome_columns(findings_->answer.request.job, choices)) add(c);
    std::ranges::swap(columns_[0], columns_[1]);  // the step, next to what it is made of
    for (const PlanColumn& c : plan_columns(listed))
        if (rows_ > 1 && c.is_alike())
            in_common_ += q(c.title + ' ' + c.cells.front());
        else
            add(c);
    beside_.insert(findings_->first());
    const auto own = std::ranges::find_if(findings_->plans, &FoundPlan::is_own);
    if (own != findings_->plans.end()) beside_.insert(static_cast<std::size_t>(own - findings_->plans.begin()));
    if (beside_.size() < 2 && rows_ > 1) beside_.insert(1);
}

void PlanTableModel::set_open(std::optional<std::size_t> plan) {
    if (open_ == plan) return;
    open_ = plan;
    if (rows_ > 0) emit dataChanged(index(0, 0), index(rows_ - 1, 0), {Qt::DisplayRole});
}

// As short as a number is: "3", "own", "before", "1, open".
QString PlanTableModel::name_in(std::size_t row) const {
    const FoundPlan& plan = findings_->plans[row];
    const bool is_before = !is_own_open(*findings_, open_);
    QString name = plan.rank ? QString::number(*plan.rank + 1) : is_before ? tr("before") : tr("own");
    if (plan.rank && plan.is_own) name += is_before ? tr(", before") : tr(", own");
    return open_ == row ? name + tr(", open") : name;
}

Seconds PlanTableModel::longest_step() const {
    Seconds longest;
    for (int r = 0; r < rows_; ++r) longest = max(longest, at(r).choice.step);
    return longest;
}

void PlanTableModel::set_beside(std::size_t plan, bool on) {
    if (on == beside_.contains(plan) || (on && beside_.size() == most_beside)) return;
    if (on)
        beside_.insert(plan);
    else
        beside_.erase(plan);
    if (rows_ > 0) emit dataChanged(index(0, 0), index(rows_ - 1, 0), {Qt::CheckStateRole});
    emit beside_changed();
}

int PlanTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : rows_; }

// Number, step, terms, and the rest.
const PlanTableModel::Column* PlanTableModel::column_at(int section) const {
    if (section == 0 || section == terms_column) return nullptr;
    return &columns_[static_cast<std::size_t>(section < terms_column ? section - 1 : section - 2)];
}

int PlanTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() || rows_ == 0 ? 0 : static_cast<int>(columns_.size()) + 2;
}

QVariant PlanTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const auto row = static_cast<std::size_t>(index.row());
    if (index.column() == 0) {
        if (role == Qt::CheckStateRole) return beside_.contains(row) ? Qt::Checked : Qt::Unchecked;
        if (role == Qt::DisplayRole) return name_in(row);
        return role == Qt::ToolTipRole ? QVariant(tr("Marked plans are held beside one another below; up to four")) : QVariant();
    }
    const FoundPlan& plan = at(index.row());
    if (role == Qt::ToolTipRole) {
        QString tip = capitalized(name_of(*findings_, row, open_)) + QStringLiteral(": ") + q(plan_line(plan.choice.plan));
        if (plan.simulated) tip += tr("<br>Played event by event its step takes %1").arg(quantity(*plan.simulated));
        return tip;
    }
    const Column* column = column_at(index.column());
    if (!column) return role == Qt::AccessibleTextRole ? quantity(plan.choice.step) : QVariant();
    if (role == Qt::DisplayRole) return column->cells[row];
    return role == Qt::TextAlignmentRole ? cell_alignment(column->figures) : QVariant();
}

QVariant PlanTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section >= columnCount()) return {};
    const Column* column = column_at(section);
    if (role == Qt::TextAlignmentRole) return cell_alignment(column && column->figures);
    if (role == Qt::ToolTipRole && column) return column->tip;
    if (role != Qt::DisplayRole) return {};
    return column ? column->heading : section == terms_column ? tr("where it goes") : QString();
}

Qt::ItemFlags PlanTableModel::flags(const QModelIndex& index) const {
    const Qt::ItemFlags usual = QAbstractTableModel::flags(index);
    return index.isValid() && index.column() == 0 ? usual | Qt::ItemIsUserCheckable : usual;
}

bool PlanTableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) || index.column() != 0 || role != Qt::CheckStateRole) return false;
    set_beside(static_cast<std::size_t>(index.row()), value.toInt() == Qt::Checked);
    return true;
}

}  // namespace sextant::gui
