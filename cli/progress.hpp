// A progress bar for long work. It is drawn only on a terminal, so that pipes and logs get nothing extra.
#pragma once

#include <cstddef>
#include <string>

#include <unistd.h>

namespace sextant {

class Progress {
public:
    // `total`: the number of steps. The destructor removes the bar. `for_programs`: prints a line for each step instead, on any output:
    // "progress 3 of 10: training on 4 ranks".
    Progress(std::string label, std::size_t total, int output = STDERR_FILENO, bool for_programs = false);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    // Draws the bar if the percentage or the note behind it has changed.
    void show(std::size_t done, const std::string& note = {});
    // Corrects the total.
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
