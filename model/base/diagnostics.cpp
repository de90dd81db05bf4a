#include "model/base/diagnostics.hpp"

#include "model/base/spelling.hpp"

namespace sextant {
namespace {

std::string join(const std::vector<Diagnostic>& diagnostics) {
    std::string text;
    for (const Diagnostic& d : diagnostics) text += (text.empty() ? "" : "\n") + to_text(d);
    return text;
}

}  // namespace

std::string to_text(const Diagnostic& d) {
    std::string text = d.file;
    if (!d.pointer.empty()) text += (text.empty() ? "" : ":") + d.pointer;
    if (!text.empty()) text += ": ";
    text += d.what;
    if (!d.hint.empty()) text += "\n  hint: " + d.hint;
    return printable(std::move(text));  // it may quote a foreign file
}

InputError::InputError(std::vector<Diagnostic> diagnostics) : std::runtime_error(join(diagnostics)), diagnostics_(std::move(diagnostics)) {}

InputError::InputError(Diagnostic diagnostic) : InputError(std::vector<Diagnostic>{std::move(diagnostic)}) {}

void Diagnostics::throw_if_any() const {
    if (!list_.empty()) throw InputError(list_);
}

}  // namespace sextant
