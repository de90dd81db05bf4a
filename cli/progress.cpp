#include "cli/progress.hpp"

#include <algorithm>
#include <utility>

namespace sextant {
namespace {

constexpr std::size_t bar_width = 30;
constexpr auto back_to_a_clear_line = "\r\033[K";

// A bar that cannot be drawn is no reason to stop the work.
void write_all(int output, const std::string& text) { [[maybe_unused]] const ssize_t written = ::write(output, text.data(), text.size()); }

std::size_t at_least_one(std::size_t total) { return std::max<std::size_t>(total, 1); }

}  // namespace

Progress::Progress(std::string label, std::size_t total, int output, bool for_programs)
    : label_(std::move(label)),
      total_(at_least_one(total)),
      output_(output),
      for_programs_(for_programs),
      is_terminal_(!for_programs && ::isatty(output) == 1) {
    show(0);
}

Progress::~Progress() {
    if (is_terminal_) write_all(output_, back_to_a_clear_line);
}

void Progress::set_total(std::size_t total) { total_ = at_least_one(total); }

void Progress::show(std::size_t done, const std::string& note) {
    if (for_programs_ && done > shown_done_)
        write_all(output_, "progress " + std::to_string(done) + " of " + std::to_string(total_) + ": " + label_ + "\n");
    shown_done_ = done;
    const std::size_t percent = std::min(done, total_) * 100 / total_;
    if (!is_terminal_ || (percent == shown_percent_ && note == shown_note_)) return;
    shown_percent_ = percent;
    shown_note_ = note;
    const std::size_t filled = percent * bar_width / 100;
    write_all(output_, back_to_a_clear_line + label_ + " [" + std::string(filled, '#') + std::string(bar_width - filled, '.') + "] " +
                           std::to_string(percent) + " %" + (note.empty() ? "" : "  " + note));
}

}  // namespace sextant
