// Which scenarios were open last, newest first; kept with the settings of the program.
#pragma once

#include <QString>
#include <QStringList>

namespace sextant::gui {

QStringList recent_files();  // those that are still there
void add_recent_file(const QString& path);

}  // namespace sextant::gui
