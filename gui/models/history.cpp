#include "gui/models/history.hpp"

namespace sextant::gui {

void History::begin(SessionPtr session) {
    steps_ = {{std::move(session), {}, 0}};
    at_ = 0;
    saved_ = 0;
}

void History::push(SessionPtr session, QString label, int gesture) {
    const bool continues = gesture != 0 && steps_[at_].gesture == gesture && saved_ != at_;
    steps_.resize(at_ + 1);
    if (saved_ && *saved_ > at_) saved_.reset();
    if (continues) {
        steps_[at_].session = std::move(session);
        return;
    }
    steps_.push_back({std::move(session), std::move(label), gesture});
    ++at_;
}

void History::replace(SessionPtr session) { steps_[at_].session = std::move(session); }

void History::replace_all(const std::function<Session(Session)>& other) {
    for (Step& step : steps_) step.session = std::make_shared<const Session>(other(*step.session));
}

std::optional<QString> History::undoes() const {
    if (steps_.empty() || at_ == 0) return std::nullopt;
    return steps_[at_].label;
}

std::optional<QString> History::redoes() const {
    if (at_ + 1 >= steps_.size()) return std::nullopt;
    return steps_[at_ + 1].label;
}

void History::undo() {
    if (at_ > 0) --at_;
}

void History::redo() {
    if (at_ + 1 < steps_.size()) ++at_;
}

}  // namespace sextant::gui
