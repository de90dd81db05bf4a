// A table as CSV (RFC 4180): separated by commas, quoted where necessary.
#pragma once

#include <QAbstractItemModel>
#include <QString>

namespace sextant::gui {

// With the headings. Cells have the text that is shown, but numbers have no grouping commas.
QString csv_of(const QAbstractItemModel&);

}  // namespace sextant::gui
