#include "gui/views/editor/strangers_panel.hpp"

#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"

#include <QPushButton>

namespace sextant::gui {
namespace {

bool is_unknown_key(const Diagnostic& d) { return d.what.starts_with("unknown key"); }

}  // namespace

StrangersPanel::StrangersPanel(Workbench& workbench) : workbench_(workbench) {
    setObjectName(QStringLiteral("strangers"));
    rows_ = new QVBoxLayout(this);
    rows_->setContentsMargins(0, 0, 0, 0);
    rows_->setSpacing(4);
    hide();
}

void StrangersPanel::show_session(const Session& session) {
    std::vector<Diagnostic> strangers = session.problems;
    std::erase_if(strangers, std::not_fn(is_unknown_key));
    if (strangers == shown_) return;
    shown_ = std::move(strangers);
    while (const QLayoutItem* row = rows_->takeAt(0)) {
        row->widget()->deleteLater();
        delete row;
    }
    for (const Diagnostic& d : shown_) add_row(d);
    setVisible(!shown_.empty());
}

void StrangersPanel::add_row(const Diagnostic& d) {
    const QString path = path_of_pointer(d.pointer);
    auto* row = new QWidget;
    auto* line = new QHBoxLayout(row);
    line->setContentsMargins(0, 0, 0, 0);
    auto* what = text_label(Type::small, "bad");
    what->setText(QStringLiteral("<b>%1</b>: %2").arg(path.toHtmlEscaped(), sentence(d).toHtmlEscaped()));
    auto* remove = new QPushButton(tr("Take it away"));
    remove->setObjectName(QStringLiteral("take_away.") + path);
    remove->setAccessibleName(tr("Take %1 away").arg(path));
    line->addWidget(what, 1);
    line->addWidget(remove);
    rows_->addWidget(row);
    connect(remove, &QPushButton::clicked, this, [this, path] { workbench_.edit({{path.toStdString(), "null"}}); });
}

}  // namespace sextant::gui
