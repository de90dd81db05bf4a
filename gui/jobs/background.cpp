#include "gui/jobs/background.hpp"

#include "gui/models/caught.hpp"

#include <QApplication>
#include <QMessageBox>

namespace sextant::gui {

std::function<void()> complaint_of_caught() {
    const QString what = QString::fromStdString(InputError(problems_caught()).what());
    return [what] {
        auto* box = new QMessageBox(QMessageBox::Warning, QApplication::applicationDisplayName(), what, QMessageBox::Close,
                                    QApplication::activeWindow());
        box->setObjectName(QStringLiteral("complaint"));
        box->setAttribute(Qt::WA_DeleteOnClose);
        box->open();
    };
}

}  // namespace sextant::gui
