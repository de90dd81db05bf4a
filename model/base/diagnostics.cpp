#include "model/base/diagnostics.hpp"

#include "model/base/list_text.hpp"
#include "model/base/spelling.hpp"

#include <algorithm>
#include <iterator>

namespace sextant {
namespace {

// A damaged file may have a word of megabytes.
std::string shortened(const std::string& text) {
    constexpr std::size_t most = 1000;
    return text.size() <= most ? text : text.substr(0, most) + " ...";
}

}  // namespace

std::string to_text(const Diagnostic& d) {
    std::string text = d.file;
    if (!d.pointer.empty()) text += (text.empty() ? "" : ":") + shortened(d.pointer);
    if (!text.empty()) text += ": ";
    text += shortened(d.what);
    if (!d.hint.empty()) text += "\n  hint: " + d.hint;
    return printable(std::move(text));  // it may quote a foreign file
}

InputError::InputError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(joined(
          diagnostics, [](const Diagnostic& d) { return to_text(d); }, "\n")),
      diagnostics_(std::move(diagnostics)) {}

InputError::InputError(Diagnostic diagnostic) : InputError(std::vector<Diagnostic>{std::move(diagnostic)}) {}

std::vector<Diagnostic> Diagnostics::take_from(std::size_t first) {
    const auto begin = list_.begin() + static_cast<std::ptrdiff_t>(std::min(first, list_.size()));
    std::vector<Diagnostic> taken(std::make_move_iterator(begin), std::make_move_iterator(list_.end()));
    list_.erase(begin, list_.end());
    return taken;
}

void Diagnostics::throw_if_any() const {
    if (!list_.empty()) throw InputError(list_);
}

}  // namespace sextant
