// A table as CSV (RFC 4180): commas, and quotes where they are needed.
#pragma once

#include <QAbstractItemModel>
#include <QString>

namespace sextant::gui {

// With its headings. Cells are as they are shown, numbers without their grouping.
QString csv_of(const QAbstractItemModel&);

}  // namespace sextant::gui
