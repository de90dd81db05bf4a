// Aligned columns, and the footnotes that say where the numbers in them come from.
#pragma once

#include "model/base/provenance.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// Columns of a terminal that a text takes: UTF-8 characters, each taken as one column wide.
std::size_t columns_of(std::string_view text);

// "data_communication" as people write it.
std::string words(std::string_view name);
// The title on one line and the text below it, after an empty line; nothing where there is no text.
std::string paragraph(const std::string& title, const std::string& text);
// A bar of one # for each fortieth.
std::string share_bar(double fraction);
// A bar of at most `half` # to the left of a line where the number is negative, to its right where it is positive: "  ##|", "    |##".
std::string side_bar(double marks, std::size_t half);

enum class Align { left, right };

// Rows of cells; a column is as wide as its widest cell, two spaces between columns, a last one on the left ragged. `between`: columns
// between the first and the last. `columns`: each for itself, those that follow on the left.
class TextTable {
public:
    explicit TextTable(std::string indent = "  ", Align between = Align::left) : indent_(std::move(indent)), between_(between) {}
    TextTable(std::string indent, std::vector<Align> columns) : indent_(std::move(indent)), columns_(std::move(columns)) {}
    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    [[nodiscard]] std::string text() const;

private:
    [[nodiscard]] Align align_of(std::size_t column, std::size_t columns) const;

    std::string indent_;
    Align between_ = Align::left;
    std::vector<Align> columns_;
    std::vector<std::vector<std::string>> rows_;
};

// "datasheet [1]", and at the end the list: "[1] NVIDIA A100 datasheet".
class SourceNotes {
public:
    std::string note(SourceKind kind, const std::string& source);
    template <class T>
    std::string note(const Sourced<T>& number) {
        return note(number.kind, number.source);
    }
    [[nodiscard]] std::string text() const;

private:
    std::vector<std::string> sources_;
};

}  // namespace sextant
