#include "gui/models/published_runs.hpp"

#include "gui/models/table_model.hpp"
#include "gui/models/text.hpp"

#include <cmath>
#include <iterator>

namespace sextant::gui {
namespace {

QString label(const RowResult& row, const char* name) {
    const auto found = row.labels.find(name);
    return found == row.labels.end() ? QString() : q(found->second);
}

// None sorts behind all.
double sortable(const std::optional<Seconds>& time) { return time ? time->si() : HUGE_VAL; }
double sortable(const std::optional<double>& error) { return error ? std::abs(*error) : HUGE_VAL; }

struct Column {
    QString heading;
    QString (*text)(const RowResult&);
    double (*order)(const RowResult&) = nullptr;  // of figures; words sort as they are
};

QString time_text(const std::optional<Seconds>& time) { return time ? quantity(*time) : QString(); }

const std::vector<Column>& columns() {
    static const std::vector<Column> all = {
        {QStringLiteral("model"), [](const RowResult& r) { return label(r, "model"); }},
        {QStringLiteral("devices"), [](const RowResult& r) { return grouped(r.extent.value_or(0)); },
         [](const RowResult& r) { return static_cast<double>(r.extent.value_or(0)); }},
        {QStringLiteral("device"), [](const RowResult& r) { return label(r, "gpu"); }},
        {QStringLiteral("measured"), [](const RowResult& r) { return time_text(r.measured_step); },
         [](const RowResult& r) { return sortable(r.measured_step); }},
        {QStringLiteral("predicted"), [](const RowResult& r) { return time_text(r.predicted_step); },
         [](const RowResult& r) { return sortable(r.predicted_step); }},
        {QStringLiteral("error"), [](const RowResult& r) { return r.step_error() ? signed_percent(*r.step_error()) : QString(); },
         [](const RowResult& r) { return sortable(r.step_error()); }},
        {QStringLiteral("framework"), [](const RowResult& r) { return label(r, "framework"); }},
        {QStringLiteral("run"), [](const RowResult& r) { return q(r.id); }},
    };
    return all;
}

QString tip_of(const RowResult& row) {
    QStringList lines{q(row.id),
                      QStringLiteral("%1 on %2 %3, %4")
                          .arg(label(row, "model"), grouped(row.extent.value_or(0)), label(row, "gpu"), label(row, "framework"))};
    if (row.refused) lines += QStringLiteral("not predicted: ") + q(*row.refused);
    if (!row.counted) lines += QStringLiteral("incomplete or suspect: not counted");
    if (row.fitted) lines += QStringLiteral("parameters were fitted to this run and others");
    if (row.interval)
        lines +=
            QStringLiteral("predicted: %1 to %2 in four of five cases").arg(quantity(row.interval->first), quantity(row.interval->second));
    for (QString& line : lines) line = line.toHtmlEscaped();
    return lines.join(QStringLiteral("<br>"));
}

std::vector<LongestText> longest_texts(const std::vector<PublishedEntry>& entries) {
    std::vector<LongestText> longest;
    const auto keep_longer = [](QString& most, const QString& text) {
        if (text.size() > most.size()) most = text;
    };
    for (const Column& column : columns()) {
        LongestText& most = longest.emplace_back();
        for (const PublishedEntry& e : entries) {
            const QString text = column.text(e.row);
            keep_longer(most.whole, text);
            for (const QString& line : in_two_lines(text).split(QLatin1Char('\n'))) keep_longer(most.line, line);
        }
    }
    return longest;
}

QString verdict_on(const Validation& validation) {
    QStringList parts;
    for (const SeriesMean& s : validation.unseen().series())
        if (s.series == "transformer" || s.series.starts_with("vision")) parts += QStringLiteral("%1 %2").arg(q(s.series), percent(s.mape));
    return parts.join(QStringLiteral("; "));
}

}  // namespace

PublishedRuns published_runs(Library& library, const std::function<void(std::size_t done, std::size_t total)>& progress) {
    const Validation validation = validate(library, bundled_measurements(library), progress);
    PublishedRuns runs{{}, verdict_on(validation), {}};
    for (const FileValidation& file : validation.files)
        for (const RowResult& row : file.results)
            if (row.labels.contains("gpus"))  // a job that trains, and no call of a collective
                runs.entries.push_back({q((library.root / file.file).string() + "#" + row.id), row});
    runs.longest = longest_texts(runs.entries);
    return runs;
}

void PublishedRunsModel::set_runs(std::shared_ptr<const PublishedRuns> runs) {
    beginResetModel();
    runs_ = std::move(runs);
    endResetModel();
}

int PublishedRunsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !runs_ ? 0 : static_cast<int>(runs_->entries.size());
}

int PublishedRunsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(columns().size()); }

QVariant PublishedRunsModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const PublishedEntry& entry = runs_->entries[static_cast<std::size_t>(index.row())];
    const Column& column = columns()[static_cast<std::size_t>(index.column())];
    switch (role) {
        case Qt::DisplayRole: return column.text(entry.row);
        case Qt::ToolTipRole: return tip_of(entry.row);
        case Qt::TextAlignmentRole: return headerData(index.column(), Qt::Horizontal, role);
        case path: return entry.path;
        case order: return column.order ? QVariant(column.order(entry.row)) : column.text(entry.row);
        default: return {};
    }
}

QVariant PublishedRunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    const Column& column = columns()[static_cast<std::size_t>(section)];
    if (role == Qt::TextAlignmentRole) return cell_alignment(column.order != nullptr);
    return role == Qt::DisplayRole ? QVariant(column.heading) : QVariant();
}

}  // namespace sextant::gui
