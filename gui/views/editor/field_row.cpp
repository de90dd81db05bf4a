#include "gui/views/editor/field_row.hpp"

#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"

#include <QGridLayout>
#include <QStyle>
#include <QToolButton>

namespace sextant::gui {
namespace {

constexpr int label_width = 84;

// What is said about a field, or about something inside it.
QString problem_at(const Session& session, const Field& field) {
    QStringList lines;
    for (const Diagnostic& d : session.problems)
        if (covers(session.document, field, path_of_pointer(d.pointer))) lines += sentence(d);
    return lines.join(QLatin1Char('\n'));
}

void set_state(QWidget& widget, const char* name, bool on) {
    const QVariant before = widget.property(name);
    if (before.isValid() && before.toBool() == on) return;
    widget.setProperty(name, on);
    widget.style()->unpolish(&widget);
    widget.style()->polish(&widget);
}

}  // namespace

FieldRow::FieldRow(const Field& field, Workbench& workbench, std::function<bool()> keeps_devices)
    : field_(field), workbench_(workbench), input_(make_input(field, this)), keeps_devices_(std::move(keeps_devices)) {
    setToolTip(field.tip);
    QWidget& widget = input_->widget();
    widget.setObjectName(q(field.path));
    widget.setAccessibleName(field.label);
    widget.setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    widget.installEventFilter(input_);
    problem_ = text_label(Type::small, "bad");
    problem_->hide();

    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(4);
    grid->setVerticalSpacing(2);
    auto* label = text_label(Type::small, "faint", field.label);
    label->setWordWrap(false);
    label->setBuddy(&widget);
    if (is_below()) {
        grid->addWidget(label, 0, 0);
        grid->addWidget(&widget, 1, 0);
        grid->setColumnStretch(0, 1);
    } else {
        if (field.kind != FieldKind::flag) {
            label->setFixedWidth(label_width);
            grid->addWidget(label, 0, 0);
            grid->addWidget(&widget, 0, 1);
        } else {
            label->hide();
            grid->addWidget(&widget, 0, 0, 1, 2);
        }
        grid->setColumnStretch(1, 1);
    }
    if (!field.needed && !field.small) {
        make_drop();
        grid->addWidget(drop_, is_below() ? 1 : 0, 2);
    }
    if (!field.small) grid->addWidget(problem_, 2, 0, 1, 3);
    connect(input_, &FieldInput::edited, this, &FieldRow::take);
    connect(&workbench, &Workbench::typed_wanted, input_, &FieldInput::take_typed);
}

void FieldRow::make_drop() {
    drop_ = new QToolButton;
    drop_->setText(QStringLiteral("\u00d7"));
    drop_->setAccessibleName(tr("Take %1 away").arg(field_.label));
    drop_->setToolTip(tr("Take it away: what follows without it holds again"));
    QSizePolicy keeps_its_place = drop_->sizePolicy();
    keeps_its_place.setRetainSizeWhenHidden(true);
    drop_->setSizePolicy(keeps_its_place);
    drop_->setFixedSize(20, 20);
    connect(drop_, &QToolButton::clicked, this, [this] { workbench_.edit(edits_without(workbench_.session()->document, field_)); });
}

void FieldRow::take(const QString& text) {
    const SessionPtr session = workbench_.session();
    if (!session) return;
    if (text.trimmed().isEmpty() && !field_.needed)
        workbench_.edit(edits_without(session->document, field_));
    else
        workbench_.edit(edits_for(*session, field_, text, keeps_devices_()));
    if (workbench_.session() == session) show_session(*session);  // it changed nothing
}

void FieldRow::show_session(const Session& session) {
    const std::optional<QString> stated = stated_in(session.document, field_);
    const bool is_simple = stated && !stated->startsWith(QLatin1Char('{')) && !stated->startsWith(QLatin1Char('['));
    const QString resolved = session.answer ? field_.resolved(session.answer->scenario) : QString();
    input_->show_text(is_simple ? *stated : resolved);
    // Something that this scenario knows nothing of: the length of a sequence of images, servers where there are none. Without an answer
    // nobody knows.
    const bool may_be_nothing = field_.kind == FieldKind::degree || field_.kind == FieldKind::flag;
    setVisible(!may_be_nothing || stated || !session.answer || !resolved.isEmpty());
    set_state(input_->widget(), "stated", stated.has_value());
    if (drop_) drop_->setVisible(stated.has_value());
    const QString problem = problem_at(session, field_);
    set_state(input_->widget(), "wrong", !problem.isEmpty());
    problem_->setText(field_.small ? field_.label + QStringLiteral(": ") + problem : problem);
    problem_->setVisible(!problem.isEmpty());
}

}  // namespace sextant::gui
