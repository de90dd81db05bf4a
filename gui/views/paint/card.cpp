#include "gui/views/paint/card.hpp"

#include <QStyle>

namespace sextant::gui {

Card::Card(const QString& heading, const QString& tip) {
    setObjectName(QStringLiteral("card"));
    setToolTip(tip);
    body_ = new QVBoxLayout(this);
    body_->setContentsMargins(2 * gap, gap + 4, 2 * gap, gap + 6);
    body_->setSpacing(gap - 2);
    heading_ = text_label(Type::strong, "faint", heading);
    heading_->setWordWrap(true);
    body_->addWidget(heading_);
}

void Card::add(std::initializer_list<QWidget*> content) {
    for (QWidget* w : content) body_->addWidget(w);
}

QLabel* text_label(Type type, const char* role, const QString& text) {
    auto* label = new QLabel(text);
    label->setFont(font_of(type));
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setWordWrap(type == Type::body || type == Type::small);
    if (role) label->setProperty("role", QString::fromLatin1(role));
    return label;
}

void set_role(QLabel& label, const char* role) {
    if (label.property("role").toString() == QLatin1String(role)) return;
    label.setProperty("role", QString::fromLatin1(role));
    label.style()->unpolish(&label);
    label.style()->polish(&label);
}

}  // namespace sextant::gui
