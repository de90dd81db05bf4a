// A progress bar for long work: drawn only when the output is a terminal, so that pipes and logs get nothing extra.
#pragma once

#include <cstddef>
#include <string>

#include <unistd.h>

namespace sextant {

class Progress {
public:
    // `total` steps lie ahead. The line is removed again when the object goes. `for_programs`: instead, wherever it goes, a line for each
    // step: "progress 3 of 10: training on 4 ranks".
    Progress(std::string label, std::size_t total, int output = STDERR_FILENO, bool for_programs = false);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    // Draws only when the percentage or the note behind it has changed.
    void show(std::size_t done, const std::string& note = {});
    // There is another total than was thought.
    void set_total(std::size_t total);

private:
    std::string label_;
    std::size_t total_;
    int output_;
    bool for_programs_, is_terminal_;
    std::size_t shown_done_ = 0, shown_percent_ = 101;  // none yet
    std::string shown_note_;
};

}  // namespace sextant
