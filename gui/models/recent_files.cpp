#include "gui/models/recent_files.hpp"

#include <QFileInfo>
#include <QSettings>

#include <algorithm>

namespace sextant::gui {
namespace {

const QLatin1String key("files/recent");
constexpr qsizetype most = 12;

}  // namespace

QStringList recent_files() {
    QStringList list = QSettings().value(key).toStringList();
    list.removeIf(
        [](const QString& path) { return !QFileInfo::exists(path) && !QFileInfo::exists(path.section(QLatin1Char('#'), 0, -2)); });
    return list;
}

void add_recent_file(const QString& path) {
    const QString absolute = QFileInfo(path).absoluteFilePath();
    QStringList list = recent_files();
    list.removeAll(absolute);
    list.prepend(absolute);
    QSettings().setValue(key, QStringList(list.mid(0, most)));
}

}  // namespace sextant::gui
