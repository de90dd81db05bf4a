// Texts of the model as QString.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/base/quantity_text.hpp"

#include <QString>
#include <QStringList>

#include <string_view>

namespace sextant::gui {

inline QString q(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

// "tensor communication"
template <class Enum>
QString words_of(Enum value) {
    return q(to_text(value)).replace(QLatin1Char('_'), QLatin1Char(' '));
}

inline QString with_signs(std::string_view text) { return q(sextant::with_signs(text)); }
template <class Q>
QString quantity(Q value, int digits = 3) {
    return with_signs(to_text(value, digits));
}
// The digits that distinguish a time from others at this distance.
int digits_for(Seconds time, Seconds distance);
inline QString number(double value, int digits = 3) { return q(number_text(value, digits)); }
// With a space that does not break between the number and its sign.
inline QString percent(double fraction, int digits = 2) {
    return q(percent_text(fraction, digits)).replace(QLatin1Char(' '), QChar(QChar::Nbsp));
}
inline QString signed_percent(double fraction) {
    return (fraction < 0 ? QStringLiteral("\u2212") : QStringLiteral("+")) + percent(fraction < 0 ? -fraction : fraction);
}

// The words of a search, and whether a text contains all of them, ignoring case.
QStringList words_of(const QString& search);
bool has_all(const QString& text, const QStringList& words);

// "tp 3 does not divide the 8 devices of a node", with its hint in a second sentence.
QString sentence(const Diagnostic&);
// As HTML: one below the other, in bold.
QString html_of(const std::vector<Diagnostic>&);
// "/plan/tp" becomes "plan.tp": diagnostics use the former, edits the latter.
QString path_of_pointer(std::string_view pointer);

// Broken into two lines, at a space, after a hyphen or where a zero-width space stands, so that the longer one is as short as possible.
QString in_two_lines(const QString& text);

// With a capital first letter.
QString capitalized(QString);

// 1234567 -> "1,234,567", as in the titles of scenarios. Numbers below a hundred keep their decimals.
QString grouped(double value);
// The same, rounded to three digits: "1,230,000".
QString grouped_quantity(double value);

}  // namespace sextant::gui
