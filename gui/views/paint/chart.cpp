#include "gui/views/paint/chart.hpp"

#include <QHelpEvent>
#include <QMetaMethod>
#include <QMouseEvent>
#include <QTextDocumentFragment>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace sextant::gui {

ChartWidget::ChartWidget(const QString& name) {
    setAccessibleName(name);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumWidth(160);
}

void ChartWidget::show_chart(std::shared_ptr<const Chart> chart) {
    const int before = heightForWidth(width());
    chart_ = std::move(chart);
    pointed_.reset();
    if (heightForWidth(width()) != before) updateGeometry();
    update();
}

void ChartWidget::emphasize(std::optional<int> key) {
    if (key == emphasized_) return;
    emphasized_ = key;
    update();
}

// As high as it has to be where it is as wide as it is: layouts give a widget of fixed height no more than its hint.
QSize ChartWidget::sizeHint() const { return {480, heightForWidth(width())}; }

void ChartWidget::resizeEvent(QResizeEvent* e) {
    if (heightForWidth(e->size().width()) != heightForWidth(e->oldSize().width())) updateGeometry();
}

int ChartWidget::heightForWidth(int width) const { return chart_ ? static_cast<int>(std::ceil(chart_->height_for(width))) : 0; }

void ChartWidget::paintEvent(QPaintEvent*) {
    if (!chart_) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    hits_ = chart_->paint(painter, rect(), look_of(*this), emphasized_);
    if (!isEnabled()) painter.fillRect(rect(), veil_of(look_of(*this)));
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(look_of(*this).accent, 1, Qt::DotLine));
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
        if (pointed_) painter.drawRoundedRect(*pointed_, 3, 3);
    }
}

const Hit* ChartWidget::hit_at(QPointF p) const {
    const auto found = std::ranges::find_if(hits_, [&](const Hit& h) { return h.area.contains(p); });
    return found == hits_.end() ? nullptr : &*found;
}

void ChartWidget::mousePressEvent(QMouseEvent* e) {
    pointed_.reset();
    if (const Hit* hit = hit_at(e->position()); hit && hit->can_be_chosen) emit chosen(hit->key);
}

void ChartWidget::mouseDoubleClickEvent(QMouseEvent* e) {
    if (const Hit* hit = hit_at(e->position()); hit && hit->can_be_chosen) emit activated(hit->key);
}

void ChartWidget::mouseMoveEvent(QMouseEvent* e) {
    const Hit* hit = hit_at(e->position());
    const bool is_heard = isSignalConnected(QMetaMethod::fromSignal(&ChartWidget::chosen));
    setCursor(hit && hit->can_be_chosen && is_heard ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void ChartWidget::move_pointer(int step) {
    std::vector<const Hit*> parts;
    for (const Hit& hit : hits_)
        if (hit.can_be_chosen || !hit.tip.isEmpty()) parts.push_back(&hit);
    if (parts.empty()) return;
    const auto is_here = [this](const Hit* h) { return pointed_ ? h->area == *pointed_ : h->can_be_chosen && emphasized_ == h->key; };
    const auto now = std::ranges::find_if(parts, is_here);
    const int count = static_cast<int>(parts.size());
    const int at = now == parts.end() ? (step > 0 ? 0 : count - 1) : (static_cast<int>(now - parts.begin()) + step + count) % count;
    const Hit part = *parts[static_cast<std::size_t>(at)];
    if (part.can_be_chosen) emit chosen(part.key);
    point_at(part);
}

void ChartWidget::point_at(const Hit& hit) {
    pointed_ = hit.area;
    update();
    setAccessibleDescription(QTextDocumentFragment::fromHtml(hit.tip).toPlainText());
    QToolTip::showText(mapToGlobal(hit.area.bottomLeft().toPoint()), hit.tip, this, hit.area.toAlignedRect());
}

void ChartWidget::keyPressEvent(QKeyEvent* e) {
    if (e->key() == Qt::Key_Right || e->key() == Qt::Key_Down) return move_pointer(1);
    if (e->key() == Qt::Key_Left || e->key() == Qt::Key_Up) return move_pointer(-1);
    const bool is_enter = e->key() == Qt::Key_Return || e->key() == Qt::Key_Enter;
    if (is_enter && emphasized_) emit activated(*emphasized_);
    QWidget::keyPressEvent(e);
}

bool ChartWidget::event(QEvent* e) {
    if (e->type() != QEvent::ToolTip) return QWidget::event(e);
    const auto* help = static_cast<QHelpEvent*>(e);
    if (const Hit* hit = hit_at(help->pos()); hit && !hit->tip.isEmpty())
        QToolTip::showText(help->globalPos(), hit->tip, this, hit->area.toAlignedRect());
    else
        QToolTip::hideText();
    return true;
}

}  // namespace sextant::gui
