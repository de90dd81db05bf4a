#include "gui/views/editor/field_input.hpp"

#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QKeyEvent>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QWheelEvent>

namespace sextant::gui {
namespace {

// Its arrows double and halve, as people try degrees; any number can be typed.
class DegreeBox : public QSpinBox {
public:
    DegreeBox() {
        setRange(1, 1'000'000'000);
        setKeyboardTracking(false);
        setFocusPolicy(Qt::StrongFocus);
    }
    void stepBy(int steps) override { setValue(steps > 0 ? value() * 2 : std::max(1, value() / 2)); }

protected:
    // The wheel scrolls the page, and changes no plan.
    void wheelEvent(QWheelEvent* e) override { e->ignore(); }
};

class ChoiceBox : public QComboBox {
public:
    ChoiceBox() {
        setFocusPolicy(Qt::StrongFocus);
        setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        setMinimumContentsLength(8);
    }

protected:
    void wheelEvent(QWheelEvent* e) override { e->ignore(); }
};

class DegreeInput : public FieldInput {
public:
    explicit DegreeInput(QObject* owner) : FieldInput(owner) {
        connect(&box_, &QSpinBox::valueChanged, this, [this](int value) { emit edited(QString::number(value)); });
    }
    QWidget& widget() override { return box_; }
    void show_text(const QString& text) override {
        const QSignalBlocker quiet(box_);
        box_.setValue(text.toInt());
    }
    [[nodiscard]] bool is_being_typed() const override { return box_.cleanText() != QString::number(box_.value()); }

private:
    DegreeBox& box_ = *new DegreeBox;
};

class WordInput : public FieldInput {
public:
    WordInput(const Field& field, QObject* owner) : FieldInput(owner) {
        box_.addItems(field.choices);
        connect(&box_, &QComboBox::textActivated, this, &FieldInput::edited);
    }
    QWidget& widget() override { return box_; }
    void show_text(const QString& text) override {
        const QSignalBlocker quiet(box_);
        if (box_.findText(text) < 0 && !text.isEmpty()) box_.addItem(text);
        box_.setCurrentIndex(box_.findText(text));  // none, where nothing follows
    }

private:
    ChoiceBox& box_ = *new ChoiceBox;
};

// A text that is taken over when it is complete: by Enter, or when the field is left.
class TextInput : public FieldInput {
public:
    explicit TextInput(QObject* owner) : FieldInput(owner) {
        connect(&line_, &QLineEdit::editingFinished, this, [this] {
            if (line_.text() != shown_) emit edited(shown_ = line_.text());
        });
    }
    QWidget& widget() override { return line_; }
    void show_text(const QString& text) override {
        if (text == shown_) return;
        line_.setText(shown_ = text);
        line_.setCursorPosition(0);
    }
    [[nodiscard]] bool is_being_typed() const override { return line_.text() != shown_; }

private:
    QLineEdit& line_ = *new QLineEdit;
    QString shown_;
};

class NameInput : public FieldInput {
public:
    explicit NameInput(QObject* owner) : FieldInput(owner) {
        box_.setEditable(true);
        box_.setInsertPolicy(QComboBox::NoInsert);
        connect(&box_, &QComboBox::textActivated, this, [this](const QString& text) { take(text); });
        connect(box_.lineEdit(), &QLineEdit::editingFinished, this, [this] { take(box_.currentText()); });
    }
    QWidget& widget() override { return box_; }
    void show_text(const QString& text) override {
        shown_ = text;
        if (text == box_.currentText()) return;
        const QSignalBlocker quiet(box_);
        box_.setCurrentText(text);
        box_.lineEdit()->setCursorPosition(0);
    }
    void set_choices(const QStringList& names) override {
        const QSignalBlocker quiet(box_);
        box_.addItems(names);
        box_.completer()->setFilterMode(Qt::MatchContains);
        box_.completer()->setCompletionMode(QCompleter::PopupCompletion);
        box_.setCurrentText(shown_);
        box_.lineEdit()->setCursorPosition(0);
    }
    [[nodiscard]] bool is_being_typed() const override { return box_.currentText() != shown_; }

private:
    void take(const QString& text) {
        if (text != shown_) emit edited(shown_ = text);
    }
    ChoiceBox& box_ = *new ChoiceBox;
    QString shown_;
};

class FlagInput : public FieldInput {
public:
    FlagInput(const Field& field, QObject* owner) : FieldInput(owner) {
        box_.setText(field.label);
        connect(&box_, &QCheckBox::clicked, this, [this](bool on) { emit edited(on ? QStringLiteral("true") : QStringLiteral("false")); });
    }
    QWidget& widget() override { return box_; }
    void show_text(const QString& text) override { box_.setChecked(text == QLatin1String("true")); }

private:
    QCheckBox& box_ = *new QCheckBox;
};

}  // namespace

// A field has an undo of its own, of letters. Only while some are typed it is what is meant.
bool FieldInput::eventFilter(QObject*, QEvent* e) {
    if (e->type() != QEvent::ShortcutOverride || is_being_typed()) return false;
    const auto* key = static_cast<const QKeyEvent*>(e);
    if (!key->matches(QKeySequence::Undo) && !key->matches(QKeySequence::Redo)) return false;
    e->ignore();
    return true;
}

FieldInput* make_input(const Field& field, QObject* owner) {
    switch (field.kind) {
        case FieldKind::degree:
            return new DegreeInput(owner);
        case FieldKind::word:
        case FieldKind::order:
            return new WordInput(field, owner);
        case FieldKind::name:
            return new NameInput(owner);
        case FieldKind::flag:
            return new FlagInput(field, owner);
        case FieldKind::quantity:
        case FieldKind::number:
            return new TextInput(owner);
    }
    return nullptr;
}

}  // namespace sextant::gui
