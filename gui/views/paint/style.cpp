// How widgets look: a palette for all of them, and rules for those that need more.
#include "gui/views/paint/look.hpp"

#include <QApplication>
#include <QPalette>
#include <QStyleFactory>

namespace sextant::gui {
namespace {

// What cannot be chosen now: still to be read, also where a projector shows it.
QColor disabled(const Look& look) { return look.dark ? look.faint.darker(140) : look.faint.lighter(140); }

QPalette palette_of(const Look& look) {
    QPalette p;
    p.setColor(QPalette::Window, look.background);
    p.setColor(QPalette::WindowText, look.text);
    p.setColor(QPalette::Base, look.surface);
    p.setColor(QPalette::AlternateBase, look.background);
    p.setColor(QPalette::Text, look.text);
    p.setColor(QPalette::Button, look.surface);
    p.setColor(QPalette::ButtonText, look.text);
    p.setColor(QPalette::ToolTipBase, look.surface);
    p.setColor(QPalette::ToolTipText, look.text);
    p.setColor(QPalette::PlaceholderText, look.faint);
    p.setColor(QPalette::Highlight, look.accent);
    p.setColor(QPalette::HighlightedText, look.on_accent);
    p.setColor(QPalette::Link, look.accent);
    p.setColor(QPalette::Light, look.surface);
    p.setColor(QPalette::Midlight, look.grid);
    p.setColor(QPalette::Mid, look.border);
    p.setColor(QPalette::Dark, look.faint);
    for (const QPalette::ColorRole role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, disabled(look));
    return p;
}

// @name stands for the colour of that name.
constexpr const char* rules = R"(
QToolTip { background: @surface; color: @text; border: 1px solid @border; padding: 6px; }
QMenuBar { background: @surface; border-bottom: 1px solid @border; padding: 2px 6px; }
QMenuBar::item { padding: 4px 9px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: @accent_ground; }
QMenu { background: @surface; border: 1px solid @border; padding: 4px; }
QMenu::item { padding: 5px 28px 5px 12px; border-radius: 4px; }
QMenu::item:selected { background: @accent_ground; color: @text; }
QMenu::item:disabled { color: @faint; }
QMenu::separator { height: 1px; background: @border; margin: 4px 8px; }
QToolBar#rail { background: @surface; border: none; border-right: 1px solid @border; spacing: 2px; padding: 6px 4px; }
QToolBar#rail QToolButton { border: none; border-radius: 6px; padding: 5px 2px 3px 2px; color: @faint; min-width: 68px; font-size: 12px; }
QToolBar#rail QToolButton:hover { background: @sunken; color: @text; }
QToolBar#rail QToolButton:checked { background: @accent_ground; color: @accent; }
QToolBar#rail QToolButton:disabled { background: transparent; color: @disabled; }
QToolBar#rail QToolButton:focus { border: 1px solid @accent; }
QFrame#card { background: @surface; border: 1px solid @border; border-radius: 8px; }
QFrame#banner { background: @bad_ground; border: none; border-bottom: 1px solid @border; }
QFrame#answer_bar { background: @surface; border: none; border-bottom: 1px solid @border; }
QScrollArea, QScrollArea > QWidget > QWidget#page { background: transparent; border: none; }
QDockWidget { titlebar-close-icon: none; titlebar-normal-icon: url(:/icons/float.svg); font-weight: 500; }
QDockWidget::title { background: @surface; padding: 8px 10px; border-bottom: 1px solid @border; }
QTabBar::tab { background: @surface; color: @faint; padding: 5px 14px; border: none; border-top: 2px solid @border; }
QTabBar::tab:selected { color: @accent; border-top-color: @accent; }
QLabel[role="faint"] { color: @faint; }
QLabel[role="good"] { color: @good; }
QLabel[role="warning"] { color: @warning; }
QLabel[role="bad"] { color: @bad; }
QLabel[role="accent"] { color: @accent; }
QLineEdit, QSpinBox, QComboBox { background: @surface; border: 1px solid @border; border-radius: 5px; padding: 3px 6px; min-height: 20px;
  selection-background-color: @accent; selection-color: @on_accent; }
QLineEdit:focus, QSpinBox:focus, QComboBox:focus { border: 1px solid @accent; }
QLineEdit[stated="true"], QSpinBox[stated="true"], QComboBox[stated="true"] { font-weight: 500; }
QLineEdit[stated="false"], QSpinBox[stated="false"], QComboBox[stated="false"] { color: @faint; }
QLineEdit[wrong="true"], QSpinBox[wrong="true"], QComboBox[wrong="true"] { border: 1px solid @bad; background: @bad_ground; }
QSpinBox::up-button, QSpinBox::down-button { subcontrol-origin: border; width: 18px; border: none; background: transparent; }
QSpinBox::up-button { subcontrol-position: top right; margin-top: 2px; }
QSpinBox::down-button { subcontrol-position: bottom right; margin-bottom: 2px; }
QSpinBox::up-arrow { image: url(:/icons/up.svg); width: 10px; height: 10px; }
QSpinBox::down-arrow { image: url(:/icons/down.svg); width: 10px; height: 10px; }
QSpinBox::up-button:hover, QSpinBox::down-button:hover { background: @sunken; border-radius: 3px; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url(:/icons/down.svg); width: 12px; height: 12px; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid @faint; border-radius: 3px; background: @surface; }
QCheckBox::indicator:checked { background: @accent; border-color: @accent; image: url(:/icons/check.svg); }
QCheckBox::indicator:disabled { border-color: @border; }
QTableView::indicator { width: 13px; height: 13px; border: 1px solid @faint; border-radius: 3px; background: @surface; }
QTableView::indicator:checked { background: @accent; border-color: @accent; image: url(:/icons/check.svg); }
QProgressBar { background: @sunken; border: none; border-radius: 3px; min-height: 6px; max-height: 6px; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }
QSlider::groove:horizontal { height: 4px; background: @border; border-radius: 2px; }
QSlider::handle:horizontal { width: 14px; margin: -5px 0; background: @accent; border-radius: 7px; }
QSlider::handle:horizontal:hover, QSlider::handle:horizontal:focus { background: @text; }
QComboBox QAbstractItemView { background: @surface; border: 1px solid @border; selection-background-color: @accent_ground;
  selection-color: @text; }
QPushButton { background: @surface; border: 1px solid @border; border-radius: 5px; padding: 5px 12px; }
QPushButton:hover { background: @sunken; }
QPushButton:focus { border: 1px solid @accent; }
QPushButton:disabled { color: @faint; }
QPushButton:default { background: @accent; color: @on_accent; border: 1px solid @accent; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QPushButton:default:disabled { background: @sunken; color: @faint; border: 1px solid @border; }
QToolButton { border: 1px solid transparent; border-radius: 5px; padding: 3px; background: transparent; }
QToolButton:hover { background: @sunken; }
QToolButton:focus { border: 1px solid @accent; }
QListView, QTableView, QTreeView, QPlainTextEdit { background: @surface; border: 1px solid @border; border-radius: 6px; }
QListView#bare, QTableView#bare { border: none; background: transparent; }
QHeaderView::section { background: @surface; color: @faint; border: none; border-bottom: 1px solid @border; padding: 4px 8px; }
QTableView#bare QHeaderView::section { padding: 4px; }
QTableView { gridline-color: @grid; selection-background-color: @accent_ground; selection-color: @text; }
QStatusBar { background: @surface; border-top: 1px solid @border; }
QSplitter::handle { background: @border; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @border; border-radius: 4px; margin: 1px; min-height: 28px; min-width: 28px; }
QScrollBar::handle:hover { background: @faint; }
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page { background: none; border: none; width: 0; height: 0; }
)";

QString style_sheet(const Look& look) {
    const std::pair<const char*, QColor> colours[] = {{"@accent_ground", look.accent_ground},
                                                      {"@on_accent", look.on_accent},
                                                      {"@accent", look.accent},
                                                      {"@surface", look.surface},
                                                      {"@background", look.background},
                                                      {"@sunken", look.sunken},
                                                      {"@disabled", disabled(look)},
                                                      {"@border", look.border},
                                                      {"@grid", look.grid},
                                                      {"@text", look.text},
                                                      {"@faint", look.faint},
                                                      {"@good", look.good},
                                                      {"@warning", look.warning},
                                                      {"@bad_ground", look.bad_ground},
                                                      {"@bad", look.bad}};
    QString sheet = QString::fromLatin1(rules);
    for (const auto& [name, colour] : colours) sheet.replace(QLatin1String(name), colour.name());
    return sheet;
}

}  // namespace

void apply(const Look& look, QApplication& application) {
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QApplication::setPalette(palette_of(look));
    QApplication::setFont(font_of(Type::body));
    application.setStyleSheet(style_sheet(look));
}

}  // namespace sextant::gui
