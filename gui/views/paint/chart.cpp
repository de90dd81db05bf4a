#include "gui/views/paint/chart.hpp"

#include <QHelpEvent>
#include <QMetaMethod>
#include <QMouseEvent>
#include <QTextDocumentFragment>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace sextant::gui {

ChartWidget::ChartWidget(const QString& name) {
    setAccessibleName(name);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setMouseTracking(true);
    setMinimumWidth(160);
}

void ChartWidget::show_chart(std::shared_ptr<const Chart> chart) {
    const int before = heightForWidth(width());
    chart_ = std::move(chart);
    if (heightForWidth(width()) != before) updateGeometry();
    update();
}

void ChartWidget::emphasize(std::optional<int> key) {
    if (key == emphasized_) return;
    emphasized_ = key;
    update();
}

QSize ChartWidget::sizeHint() const { return {480, heightForWidth(480)}; }

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
    }
}

void ChartWidget::connectNotify(const QMetaMethod& signal) {
    if (signal == QMetaMethod::fromSignal(&ChartWidget::chosen)) setFocusPolicy(Qt::StrongFocus);
}

const Hit* ChartWidget::hit_at(QPointF p) const {
    const auto found = std::ranges::find_if(hits_, [&](const Hit& h) { return h.area.contains(p); });
    return found == hits_.end() ? nullptr : &*found;
}

void ChartWidget::mousePressEvent(QMouseEvent* e) {
    if (const Hit* hit = hit_at(e->position()); hit && hit->can_be_chosen) emit chosen(hit->key);
}

void ChartWidget::mouseDoubleClickEvent(QMouseEvent* e) {
    if (const Hit* hit = hit_at(e->position()); hit && hit->can_be_chosen) emit activated(hit->key);
}

void ChartWidget::mouseMoveEvent(QMouseEvent* e) {
    const Hit* hit = hit_at(e->position());
    setCursor(hit && hit->can_be_chosen ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void ChartWidget::move_choice(int step) {
    std::vector<Hit> choices;
    std::ranges::copy_if(hits_, std::back_inserter(choices), &Hit::can_be_chosen);
    if (choices.empty()) return;
    const auto now = emphasized_ ? std::ranges::find(choices, *emphasized_, &Hit::key) : choices.end();
    const int count = static_cast<int>(choices.size());
    const int at = now == choices.end() ? (step > 0 ? 0 : count - 1) : (static_cast<int>(now - choices.begin()) + step + count) % count;
    emit chosen(choices[static_cast<std::size_t>(at)].key);
    tell(choices[static_cast<std::size_t>(at)]);
}

void ChartWidget::tell(const Hit& hit) {
    setAccessibleDescription(QTextDocumentFragment::fromHtml(hit.tip).toPlainText());
    QToolTip::showText(mapToGlobal(hit.area.bottomLeft().toPoint()), hit.tip, this, hit.area.toAlignedRect());
}

void ChartWidget::keyPressEvent(QKeyEvent* e) {
    if (e->key() == Qt::Key_Right || e->key() == Qt::Key_Down) return move_choice(1);
    if (e->key() == Qt::Key_Left || e->key() == Qt::Key_Up) return move_choice(-1);
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
