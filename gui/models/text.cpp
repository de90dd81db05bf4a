#include "gui/models/text.hpp"

#include "model/base/grouped_digits.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::gui {

QStringList words_of(const QString& search) { return search.split(QLatin1Char(' '), Qt::SkipEmptyParts); }

bool has_all(const QString& text, const QStringList& words) {
    return std::ranges::all_of(words, [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

QString sentence(const Diagnostic& d) {
    return d.hint.empty() ? q(d.what) : q(d.what) + QStringLiteral(" (") + q(d.hint) + QLatin1Char(')');
}

QString html_of(const std::vector<Diagnostic>& problems) {
    QStringList lines;
    for (const Diagnostic& d : problems) lines += capitalized(sentence(d)).toHtmlEscaped();
    return QStringLiteral("<b>%1</b>").arg(lines.join(QStringLiteral("<br>")));
}

QString path_of_pointer(std::string_view pointer) {
    return q(pointer.substr(pointer.empty() ? 0 : 1)).replace(QLatin1Char('/'), QLatin1Char('.'));
}

int digits_for(Seconds time, Seconds distance) {
    constexpr int usual = 4, most = 12;
    if (!(distance > Seconds{}) || !(time > distance)) return usual;
    return std::clamp(static_cast<int>(std::ceil(std::log10(time / distance))) + 3, usual, most);
}

QString in_two_lines(const QString& text) {
    constexpr QChar zero_width_space(0x200b);
    QString best = text;
    qsizetype longest = text.size();
    for (qsizetype i = 1; i + 1 < text.size(); ++i) {
        const bool is_space = text[i] == QLatin1Char(' ') || text[i] == zero_width_space, is_hyphen = text[i] == QLatin1Char('-');
        const qsizetype first = is_hyphen ? i + 1 : i, rest = text.size() - i - 1;
        if ((!is_space && !is_hyphen) || std::max(first, rest) >= longest) continue;
        longest = std::max(first, rest);
        best = text.left(first) + QLatin1Char('\n') + text.mid(i + 1);
    }
    return best;
}

QString capitalized(QString text) { return text.replace(0, 1, text.left(1).toUpper()); }

QString grouped(double value) {
    constexpr double few = 100;
    if (std::abs(value) < few && value != std::round(value)) return number(value);
    return q(grouped_digits(value));
}

QString grouped_quantity(double value) {
    constexpr double least = 1000;
    return std::abs(value) < least ? grouped(value) : q(rounded_digits(value));
}

}  // namespace sextant::gui
