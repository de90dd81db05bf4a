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

// Its arrows double and halve, as people try degrees; any number can be typed, and what cannot be is for the reader to say: a sign that
// goes away unnoticed leaves another number. 0 stands for none, which is blank.
class DegreeBox : public QSpinBox {
public:
    DegreeBox() {
        setRange(-1'000'000'000, 1'000'000'000);
        setKeyboardTracking(false);
        setFocusPolicy(Qt::StrongFocus);
    }
    void stepBy(int steps) override { setValue(std::max(1, steps > 0 ? value() * 2 : value() / 2)); }

protected:
    [[nodiscard]] QValidator::State validate(QString& text, int& at) const override {
        return text.trimmed() == QLatin1String("0") ? QValidator::Intermediate : QSpinBox::validate(text, at);
    }
    [[nodiscard]] QString textFromValue(int value) const override { return value == 0 ? QStringLiteral(" ") : QString::number(value); }
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
        connect(&box_, &QSpinBox::valueChanged, this, [this](int value) { take(QString::number(value)); });
    }
    QWidget& widget() override { return box_; }
    void take_typed() override { box_.interpretText(); }

private:
    void put(const QString& text) override {
        const QSignalBlocker quiet(box_);
        box_.setValue(text.toInt());
    }
    [[nodiscard]] bool is_being_typed() const override {
        const QString taken = box_.value() == 0 ? QString() : QString::number(box_.value());
        return box_.cleanText().trimmed() != taken;
    }

    DegreeBox& box_ = *new DegreeBox;
};

class WordInput : public FieldInput {
public:
    WordInput(const Field& field, QObject* owner) : FieldInput(owner), choices_(field.choices) {
        box_.addItems(choices_);
        connect(&box_, &QComboBox::textActivated, this, [this](const QString& text) {
            if (choices_.contains(text)) emit edited(text);
        });
    }
    QWidget& widget() override { return box_; }

private:
    void put(const QString& text) override {
        const QSignalBlocker quiet(box_);
        while (box_.count() > choices_.size()) box_.removeItem(box_.count() - 1);
        if (box_.findText(text) < 0 && !text.isEmpty()) box_.addItem(text);  // nothing that can be chosen, but what is
        box_.setCurrentIndex(box_.findText(text));                           // none, where nothing follows
    }

    QStringList choices_;
    ChoiceBox& box_ = *new ChoiceBox;
};

// A text that is taken over when it is complete: by Enter, or when the field is left.
class TextInput : public FieldInput {
public:
    explicit TextInput(QObject* owner) : FieldInput(owner) { connect(&line_, &QLineEdit::editingFinished, this, &TextInput::take_typed); }
    QWidget& widget() override { return line_; }
    void take_typed() override { take(line_.text()); }

private:
    void put(const QString& text) override {
        if (text == line_.text()) return;
        line_.setText(text);
        line_.setCursorPosition(0);
    }
    [[nodiscard]] bool is_being_typed() const override { return line_.text() != shown(); }

    QLineEdit& line_ = *new QLineEdit;
};

class NameInput : public FieldInput {
public:
    explicit NameInput(QObject* owner) : FieldInput(owner) {
        box_.setEditable(true);
        box_.setInsertPolicy(QComboBox::NoInsert);
        connect(&box_, &QComboBox::textActivated, this, [this](const QString& text) { take(text); });
        connect(box_.lineEdit(), &QLineEdit::editingFinished, this, &NameInput::take_typed);
    }
    QWidget& widget() override { return box_; }
    void take_typed() override { take(box_.currentText()); }
    void set_choices(const QStringList& names) override {
        const QString typed = box_.currentText();
        const QSignalBlocker quiet(box_);
        box_.addItems(names);
        box_.completer()->setFilterMode(Qt::MatchContains);
        box_.completer()->setCompletionMode(QCompleter::PopupCompletion);
        put(typed);
    }

private:
    void put(const QString& text) override {
        if (text == box_.currentText()) return;
        const QSignalBlocker quiet(box_);
        box_.setCurrentText(text);
        box_.lineEdit()->setCursorPosition(0);
    }
    [[nodiscard]] bool is_being_typed() const override { return box_.currentText() != shown(); }

    ChoiceBox& box_ = *new ChoiceBox;
};

class FlagInput : public FieldInput {
public:
    FlagInput(const Field& field, QObject* owner) : FieldInput(owner) {
        box_.setText(field.label);
        connect(&box_, &QCheckBox::clicked, this, [this](bool on) { emit edited(on ? QStringLiteral("true") : QStringLiteral("false")); });
    }
    QWidget& widget() override { return box_; }

private:
    void put(const QString& text) override { box_.setChecked(text == QLatin1String("true")); }

    QCheckBox& box_ = *new QCheckBox;
};

}  // namespace

void FieldInput::show_text(const QString& text) {
    if (text == shown_ && is_being_typed()) return;
    put(shown_ = text);
}

void FieldInput::take(const QString& text) {
    if (text != shown_) emit edited(shown_ = text);
}

// A field has an undo of its own, of letters. Only while some are typed it is what is meant; Escape gives them up.
bool FieldInput::eventFilter(QObject*, QEvent* e) {
    if (e->type() == QEvent::KeyPress && static_cast<const QKeyEvent*>(e)->key() == Qt::Key_Escape && is_being_typed())
        return put(shown_), true;
    if (e->type() != QEvent::ShortcutOverride || is_being_typed()) return false;
    const auto* key = static_cast<const QKeyEvent*>(e);
    if (!key->matches(QKeySequence::Undo) && !key->matches(QKeySequence::Redo)) return false;
    e->ignore();
    return true;
}

FieldInput* make_input(const Field& field, QObject* owner) {
    switch (field.kind) {
        case FieldKind::degree: return new DegreeInput(owner);
        case FieldKind::word:
        case FieldKind::order: return new WordInput(field, owner);
        case FieldKind::name: return new NameInput(owner);
        case FieldKind::flag: return new FlagInput(field, owner);
        case FieldKind::quantity:
        case FieldKind::number: return new TextInput(owner);
    }
    return nullptr;
}

}  // namespace sextant::gui
