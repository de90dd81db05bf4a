#include "gui/views/editor/what_if_panel.hpp"

#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"

#include <QGridLayout>
#include <QSignalBlocker>
#include <QSlider>
#include <QWheelEvent>

#include <cmath>

namespace sextant::gui {
namespace {

constexpr int steps_per_doubling = 8, most_doublings = 3;

double factor_at(int step) { return std::exp2(static_cast<double>(step) / steps_per_doubling); }
int step_of(double factor) { return static_cast<int>(std::lround(std::log2(factor) * steps_per_doubling)); }

class ResourceSlider : public QSlider {
public:
    ResourceSlider() : QSlider(Qt::Horizontal) {
        setRange(-steps_per_doubling * most_doublings, steps_per_doubling * most_doublings);
        setPageStep(steps_per_doubling);
        setFocusPolicy(Qt::StrongFocus);
    }

protected:
    void wheelEvent(QWheelEvent* e) override { e->ignore(); }
    void mouseDoubleClickEvent(QMouseEvent*) override { setValue(0); }
};

}  // namespace

WhatIfPanel::WhatIfPanel(Workbench& workbench) : workbench_(workbench) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setVerticalSpacing(4);
    grid->setColumnStretch(1, 1);
    add_row(tr("Compute"), tr("Rates of the arithmetic units"), "what_if.compute", &Resources::compute);
    add_row(tr("Memory"), tr("Bandwidth of device memory"), "what_if.memory_bandwidth", &Resources::memory_bandwidth);
    add_row(tr("Node links"), tr("Bandwidth of the links inside a node"), "what_if.node_bandwidth", &Resources::node_bandwidth);
    add_row(tr("Network"), tr("Bandwidth between nodes"), "what_if.network_bandwidth", &Resources::network_bandwidth);
    add_row(tr("Latency"), tr("Of every step of a communication: twice as good is half as long"), "what_if.latency", &Resources::latency);
    add_row(tr("Host"), tr("Speed of the threads that launch kernels"), "what_if.host", &Resources::host);
}

void WhatIfPanel::add_row(const QString& name, const QString& tip, const char* object_name, double Resources::*resource) {
    auto* grid = static_cast<QGridLayout*>(layout());
    const int at = static_cast<int>(rows_.size());
    auto* label = text_label(Type::small, "faint", name);
    label->setFixedWidth(84);
    auto* slider = with_name(object_name, new ResourceSlider);
    slider->setAccessibleName(name);
    slider->setToolTip(tip + tr("; a double click sets it back"));
    auto* value = text_label(Type::small);
    value->setFixedWidth(44);
    value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    grid->addWidget(label, at, 0);
    grid->addWidget(slider, at, 1);
    grid->addWidget(value, at, 2);
    rows_.push_back({resource, slider, value});
    connect(slider, &QSlider::sliderPressed, this, [this] { gesture_ = workbench_.new_gesture(); });
    connect(slider, &QSlider::sliderReleased, this, [this] { gesture_ = 0; });
    connect(slider, &QSlider::valueChanged, this, [this, resource](int step) {
        const SessionPtr session = workbench_.session();
        if (!session) return;
        Resources what_if = session->what_if;
        what_if.*resource = factor_at(step);
        workbench_.set_what_if(what_if, gesture_);
    });
}

void WhatIfPanel::show_session(const Session& session) {
    for (const Row& row : rows_) {
        const double factor = session.what_if.*row.resource;
        const QSignalBlocker quiet(row.slider);
        row.slider->setValue(step_of(factor));
        row.value->setText(QStringLiteral("\u00d7 ") + number(factor, factor < 1 ? 2 : 3));
        set_role(*row.value, factor == 1 ? "faint" : "accent");
    }
}

}  // namespace sextant::gui
