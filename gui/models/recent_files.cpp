#include "gui/models/recent_files.hpp"

#include "model/sextant.hpp"

#include <QFileInfo>
#include <QSettings>

namespace sextant::gui {
namespace {

const QLatin1String key("files/recent");
constexpr qsizetype most = 12;

}  // namespace

QStringList recent_files() {
    QStringList list = QSettings().value(key).toStringList();
    list.removeIf([](const QString& path) {
        const auto row = row_named(path.toStdString());
        return !QFileInfo::exists(row ? QString::fromStdString(row->file) : path);
    });
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
