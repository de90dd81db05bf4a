#include "model/io/format/text_table.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace sextant {

std::size_t columns_of(std::string_view text) {
    const auto starts_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
    return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string words(std::string_view name) {
    std::string text(name);
    std::ranges::replace(text, '_', ' ');
    return text;
}

namespace {

// In lines that a terminal has room for, where there are spaces; `label` before the first, and the others below the text.
std::string in_lines(const std::string& label, const std::string& text) {
    constexpr std::size_t room = 100;
    std::string out = label;
    std::size_t column = label.size();
    std::istringstream stream(text);
    for (std::string word; stream >> word;) {
        const std::size_t width = columns_of(word);
        const bool first = column == label.size();
        if (!first && column + 1 + width > room) {
            out += "\n" + std::string(label.size(), ' ');
            column = label.size();
        } else if (!first) {
            out += ' ';
            ++column;
        }
        out += word;
        column += width;
    }
    return out + "\n";
}

}  // namespace

std::string paragraph(const std::string& title, const std::string& text) {
    return text.empty() ? "" : "\n" + title + "\n" + in_lines("  ", text);
}

std::string share_bar(double fraction) {
    constexpr double columns = 40;
    return std::string(static_cast<std::size_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * columns)), '#');
}

std::string side_bar(double marks, std::size_t half) {
    const auto length = std::min(half, static_cast<std::size_t>(std::lround(std::fabs(marks))));
    const std::string bar(length, '#');
    return marks < 0 ? std::string(half - length, ' ') + bar + "|" : std::string(half, ' ') + "|" + bar;
}

Align TextTable::align_of(std::size_t column, std::size_t columns) const {
    if (!columns_.empty()) return column < columns_.size() ? columns_[column] : Align::left;
    return column > 0 && column + 1 < columns ? between_ : Align::left;
}

std::string TextTable::text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool ragged = i + 1 == row.size() && align_of(i, row.size()) == Align::left;
            if (!ragged) widths[i] = std::max(widths[i], columns_of(row[i]));
        }
    }
    std::string out;
    for (const auto& row : rows_) {
        std::string line = indent_;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::size_t used = columns_of(row[i]);
            const std::string blanks(widths[i] - std::min(widths[i], used), ' ');
            line += align_of(i, row.size()) == Align::right ? blanks + row[i] : row[i] + blanks;
            if (i + 1 < row.size()) line += "  ";
        }
        while (!line.empty() && line.back() == ' ') line.pop_back();
        out += line + "\n";
    }
    return out;
}

std::string SourceNotes::note(SourceKind kind, const std::string& source) {
    std::string text(to_text(kind));
    if (source.empty()) return text;
    auto at = std::ranges::find(sources_, source);
    if (at == sources_.end()) at = sources_.insert(sources_.end(), source);
    return text + " [" + std::to_string(at - sources_.begin() + 1) + "]";
}

std::string SourceNotes::text() const {
    std::string out = sources_.empty() ? "" : "Sources\n";
    for (std::size_t i = 0; i < sources_.size(); ++i) out += in_lines("  [" + std::to_string(i + 1) + "] ", sources_[i]);
    return out;
}

}  // namespace sextant
