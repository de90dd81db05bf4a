// The visual language: every colour and every size of text that the window uses, light and dark. A view takes them from here and has none
// of its own; a term, a kind of memory or of work has one colour everywhere (that of the pictures in docs/, model/io/trace/span_style.hpp).
#pragma once

#include "model/graph/trace.hpp"
#include "model/report/report.hpp"

#include <QColor>
#include <QFont>

class QApplication;
class QPainter;
class QPalette;
class QRectF;
class QSize;
class QWidget;

namespace sextant::gui {

struct Look {
    bool dark = false;
    QColor background;  // behind everything
    QColor surface;     // cards, fields
    QColor sunken;      // what lies deeper than a card: the ground of a bar
    QColor border, grid;
    QColor text, faint;
    QColor accent, on_accent, accent_ground;
    // Words always repeat their meaning, so that nobody has to tell them apart by colour.
    QColor good, warning, bad;
    QColor warning_ground, bad_ground;
};
const Look& light_look();
const Look& dark_look();
bool is_dark(const QPalette&);
// The look in which the widget is shown.
const Look& look_of(const QWidget&);

// Gives the whole program this look.
void apply(const Look&, QApplication&);

enum class Type { small, body, strong, heading, title, figure };
QFont font_of(Type);
QFont code_font();
// How much larger than usual everything is drawn, for a desktop whose letters are this high (in pixels): in eighths, from 1, and on a
// small screen no more than leaves room for a window of 800 x 600, which every view fits into.
double enlargement(double letters, const QSize& screen);

// How an area is filled. Time in which nothing is done (bubble, input, waiting for the host or for others) is hatched.
struct Fill {
    QColor colour{};
    bool hatched = false;
};
Fill fill_of(Term);
Fill fill_of(SpanKind);
Fill fill_of(MemoryKind);
void paint_fill(QPainter&, const QRectF&, const Fill&, const Look&);
QColor colour_of(SourceKind, const Look&);
// How busy something is, 0 to 1: the busier the farther from the ground, in lightness too.
QColor colour_of_utilization(double, const Look&);
// Drawn over results of an earlier question while the present one is being answered.
QColor veil_of(const Look&);
// `part` of a colour on a ground, 0 to 1.
QColor mixed(const QColor& ground, const QColor& colour, double part);
// Black or white, whichever is legible on this colour.
QColor text_on(const QColor&);

inline constexpr int gap = 8;  // the unit of all spacing

}  // namespace sextant::gui
