#include "gui/models/csv.hpp"

#include <QRegularExpression>

namespace sextant::gui {
namespace {

QString cell(QString text) {
    static const QRegularExpression between_thousands(QStringLiteral("(?<=\\d),(?=\\d{3}(\\D|$))"));
    text.remove(between_thousands);
    const bool needs_quotes = text.contains(QLatin1Char(',')) || text.contains(QLatin1Char('"')) || text.contains(QLatin1Char('\n'));
    if (!needs_quotes) return text;
    return QLatin1Char('"') + text.replace(QLatin1Char('"'), QLatin1String("\"\"")) + QLatin1Char('"');
}

}  // namespace

QString csv_of(const QAbstractItemModel& table) {
    const int columns = table.columnCount();
    QString out;
    const auto line = [&](const auto& text_of_column) {
        for (int c = 0; c < columns; ++c) out += (c == 0 ? QString() : QStringLiteral(",")) + cell(text_of_column(c));
        out += QLatin1String("\r\n");
    };
    line([&](int c) { return table.headerData(c, Qt::Horizontal).toString(); });
    for (int r = 0; r < table.rowCount(); ++r) line([&](int c) { return table.index(r, c).data().toString(); });
    return out;
}

}  // namespace sextant::gui
