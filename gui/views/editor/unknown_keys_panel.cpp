#include "gui/views/editor/unknown_keys_panel.hpp"

#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"

#include <QPushButton>

namespace sextant::gui {
namespace {

bool is_unknown_key(const Diagnostic& d) { return d.what.starts_with("unknown key"); }

}  // namespace

UnknownKeysPanel::UnknownKeysPanel(Workbench& workbench) : workbench_(workbench) {
    setObjectName(QStringLiteral("unknown_keys"));
    rows_ = bare_layout<QVBoxLayout>(this, 4);
    hide();
}

void UnknownKeysPanel::show_session(const Session& session) {
    std::vector<Diagnostic> unknown = session.problems;
    std::erase_if(unknown, std::not_fn(is_unknown_key));
    if (unknown == shown_) return;
    shown_ = std::move(unknown);
    while (const QLayoutItem* row = rows_->takeAt(0)) {
        row->widget()->deleteLater();
        delete row;
    }
    for (const Diagnostic& d : shown_) add_row(d);
    setVisible(!shown_.empty());
}

void UnknownKeysPanel::add_row(const Diagnostic& d) {
    const QString path = path_of_pointer(d.pointer);
    auto* row = new QWidget;
    auto* line = new QHBoxLayout(row);
    line->setContentsMargins(0, 0, 0, 0);
    auto* what = text_label(Type::small, "bad");
    const QString said = d.hint.starts_with("did you mean") ? sentence(d) : q(d.what);  // and not every key that there is, here and above
    what->setText(QStringLiteral("<b>%1</b>: %2").arg(path.toHtmlEscaped(), said.toHtmlEscaped()));
    what->setToolTip(q(d.hint));
    auto* remove = with_name(QStringLiteral("take_away.") + path, new QPushButton(tr("Take it away")));
    remove->setAccessibleName(tr("Take %1 away").arg(path));
    line->addWidget(what, 1);
    line->addWidget(remove);
    rows_->addWidget(row);
    connect(remove, &QPushButton::clicked, this, [this, path] { workbench_.edit({{path.toStdString(), "null"}}); });
}

}  // namespace sextant::gui
