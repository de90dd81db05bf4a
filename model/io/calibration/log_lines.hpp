// The lines of a log as words, with what mpirun, terminals and services that keep logs put around them taken off.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

struct LogLine {
    int number = 1;
    std::string text;
    std::vector<std::string> words;

    [[nodiscard]] bool says(std::string_view part) const { return text.find(part) != std::string::npos; }
    [[nodiscard]] std::string place(const std::string& file) const { return file + ":" + std::to_string(number); }
};

// Without colours ("ESC[4m"), carriage returns, times ("2024-03-02T10:11:12Z ") and the tags of mpirun --tag-output ("[1,0]<stdout>:").
std::vector<LogLine> lines_of(std::string_view text);

// A whole word that is a finite number, not below zero.
std::optional<double> number_in(std::string_view word);

}  // namespace sextant
