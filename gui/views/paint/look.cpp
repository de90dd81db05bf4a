#include "gui/views/paint/look.hpp"

#include "model/io/trace/span_style.hpp"

#include <QFontDatabase>
#include <QPainter>
#include <QPalette>
#include <QWidget>

#include <algorithm>
#include <array>
#include <cmath>

namespace sextant::gui {
namespace {

constexpr int body_size = 13;

QColor from(const svg::Colour& c) { return {c.red, c.green, c.blue}; }
QColor kind(SpanKind k) { return from(style_of(k).colour); }

QColor with_lightness(const QColor& c, double factor) {
    float hue = 0, saturation = 0, lightness = 0;
    c.getHslF(&hue, &saturation, &lightness);
    return QColor::fromHslF(std::max(0.0F, hue), saturation, std::min(1.0F, lightness * static_cast<float>(factor)));
}

}  // namespace

const Look& light_look() {
    static const Look look{.dark = false,
                           .background = 0xf4f6f8,
                           .surface = 0xffffff,
                           .sunken = 0xe9edf1,
                           .border = 0xd5dbe2,
                           .grid = 0xe4e8ed,
                           .text = 0x18212b,
                           .faint = 0x5a6876,
                           .accent = 0x2a6cb0,
                           .on_accent = 0xffffff,
                           .accent_ground = 0xe3edf8,
                           .good = 0x1f7a5c,
                           .warning = 0x8f5a00,
                           .bad = 0xb02f2a,
                           .warning_ground = 0xfff4dd,
                           .bad_ground = 0xfce8e6};
    return look;
}

const Look& dark_look() {
    static const Look look{.dark = true,
                           .background = 0x13171c,
                           .surface = 0x1b2128,
                           .sunken = 0x28303a,
                           .border = 0x36404b,
                           .grid = 0x2a323c,
                           .text = 0xe4e9ee,
                           .faint = 0x9aa8b6,
                           .accent = 0x74b0ea,
                           .on_accent = 0x0d1620,
                           .accent_ground = 0x21374e,
                           .good = 0x5cc3a0,
                           .warning = 0xe5b35c,
                           .bad = 0xf08a80,
                           .warning_ground = 0x3a2f18,
                           .bad_ground = 0x422422};
    return look;
}

bool is_dark(const QPalette& palette) { return palette.color(QPalette::Window).lightness() < 128; }

const Look& look_of(const QWidget& widget) { return is_dark(widget.window()->palette()) ? dark_look() : light_look(); }

QFont font_of(Type type) {
    static const QStringList families{QStringLiteral("Roboto"), QStringLiteral("Noto Sans"), QStringLiteral("DejaVu Sans")};
    QFont font;
    font.setFamilies(families);
    const auto set = [&](int pixels, QFont::Weight weight) { font.setPixelSize(pixels), font.setWeight(weight); };
    switch (type) {
        case Type::small: set(12, QFont::Normal); break;
        case Type::body: set(body_size, QFont::Normal); break;
        case Type::strong: set(body_size, QFont::Medium); break;
        case Type::heading: set(14, QFont::Medium); break;
        case Type::title: set(20, QFont::Medium); break;
        case Type::figure: set(30, QFont::Medium); break;
    }
    return font;
}

QFont code_font() {
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    font.setPixelSize(12);
    return font;
}

double enlargement(double letters, const QSize& screen) {
    const double room = std::min(screen.width() / 800.0, screen.height() / 600.0);
    return std::max(1.0, std::min(std::round(8 * letters / body_size), std::floor(8 * room)) / 8);
}

Fill fill_of(SpanKind k) { return {kind(k), k == SpanKind::launch}; }

Fill fill_of(Term term) {
    const bool idle = term == Term::launch || term == Term::bubble || term == Term::straggler;
    return {from(colour_of(term)), idle};
}

// What makes the memory has the colour of the work that makes it.
Fill fill_of(MemoryKind k) {
    switch (k) {
        case MemoryKind::weights: return {with_lightness(kind(SpanKind::forward), 0.68)};
        case MemoryKind::gradients: return {kind(SpanKind::backward)};
        case MemoryKind::optimizer: return {kind(SpanKind::optimizer)};
        case MemoryKind::activations: return {kind(SpanKind::forward)};
        case MemoryKind::logits: return {with_lightness(kind(SpanKind::forward), 1.45)};
        case MemoryKind::gathered_weights: return {kind(SpanKind::pipeline_transfer)};
        case MemoryKind::communication: return {kind(SpanKind::data_exchange)};
        case MemoryKind::context: return {kind(SpanKind::overhead)};
        case MemoryKind::fragmentation: return {kind(SpanKind::launch), true};
    }
    return {};
}

// Diagonal lines on a ground that recedes; drawn line by line, so that they stay lines in SVG and PDF.
void paint_fill(QPainter& painter, const QRectF& area, const Fill& fill, const Look& look) {
    painter.fillRect(area, fill.hatched ? look.sunken : fill.colour);
    if (!fill.hatched) return;
    constexpr double distance = 6;
    painter.setPen(QPen(fill.colour, 1.5, Qt::SolidLine, Qt::FlatCap));
    const double first = std::floor((area.left() - area.height()) / distance) * distance;
    for (double foot = first; foot < area.right(); foot += distance) {
        const double from = std::max(foot, area.left()), to = std::min(foot + area.height(), area.right());
        if (from < to) painter.drawLine(QPointF(from, area.bottom() - (from - foot)), QPointF(to, area.bottom() - (to - foot)));
    }
}

QColor colour_of(SourceKind k, const Look& look) {
    switch (k) {
        case SourceKind::measured: return look.good;
        case SourceKind::datasheet: return look.accent;
        case SourceKind::published: return look.faint;
        case SourceKind::estimated: return look.warning;
    }
    return look.faint;
}

QColor colour_of_utilization(double busy, const Look& look) {
    using Ramp = std::array<QColor, 4>;
    static const Ramp light{0xb9c6d3, 0x6fa8d6, 0x2a5fa8, 0x6b1a52}, dark{0x46535f, 0x4a7fb5, 0x8fc4f5, 0xffd9ef};
    const Ramp& ramp = look.dark ? dark : light;
    const double at = std::clamp(busy, 0.0, 1.0) * static_cast<double>(ramp.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(at), ramp.size() - 2);
    return mixed(ramp[below], ramp[below + 1], at - static_cast<double>(below));
}

QColor veil_of(const Look& look) {
    QColor veil = look.surface;
    veil.setAlphaF(0.6F);
    return veil;
}

QColor mixed(const QColor& ground, const QColor& colour, double part) {
    const auto mix = [part](int a, int b) { return static_cast<int>(std::lround(a + part * (b - a))); };
    return {mix(ground.red(), colour.red()), mix(ground.green(), colour.green()), mix(ground.blue(), colour.blue())};
}

QColor text_on(const QColor& ground) {
    const double luminance = 0.299 * ground.red() + 0.587 * ground.green() + 0.114 * ground.blue();
    return luminance > 135 ? QColor(0x14, 0x1a, 0x20) : QColor(Qt::white);
}

}  // namespace sextant::gui
