#include "gui/views/paint/icon.hpp"

#include "gui/models/text.hpp"

#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

namespace sextant::gui {
namespace {

QPixmap drawn(const QString& document, int side) {
    QPixmap picture(side, side);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    QSvgRenderer(document.toUtf8()).render(&painter);
    return picture;
}

QString document(std::string_view elements, const QColor& pen) {
    return QStringLiteral(
               "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='%1' stroke-width='1.7' "
               "stroke-linecap='round' stroke-linejoin='round'>%2</svg>")
        .arg(pen.name(), q(elements));
}

}  // namespace

QIcon icon_of(std::string_view elements, const Look& look) {
    QIcon icon;
    for (const int side : {24, 48, 96}) {
        icon.addPixmap(drawn(document(elements, look.faint), side), QIcon::Normal, QIcon::Off);
        icon.addPixmap(drawn(document(elements, look.accent), side), QIcon::Normal, QIcon::On);
    }
    return icon;
}

// A sextant: the arc of sixty degrees, the arm, and the star that it is set to.
QIcon program_icon() {
    QFile file(QStringLiteral(":/icons/sextant.svg"));
    file.open(QIODevice::ReadOnly);
    const QString picture = QString::fromUtf8(file.readAll());
    QIcon icon;
    for (const int side : {16, 32, 48, 64, 128, 256}) icon.addPixmap(drawn(picture, side));
    return icon;
}

}  // namespace sextant::gui
