#include "backend/exec/staged_transport.hpp"

#include <algorithm>

namespace sextant {

Array StagedTransport::copied_out(Staged& s, const Array& from) {
    Array host = memory_.take(from.elements, from.element);
    s.copying = copies_->begin(from, host, false);
    return host;
}

void StagedTransport::stage(Staged& s, CollectiveCall c) {
    s.to = c.to;
    c.from = copied_out(s, c.from);
    c.to = s.result = c.kind == ExchangeKind::all_reduce ? c.from : memory_.take(c.to.elements, c.to.element);
    s.call = c;
}

void StagedTransport::stage(Staged& s, MessageCall c) {
    if (c.receives) {
        s.to = c.data;
        c.data = s.result = memory_.take(c.data.elements, c.data.element);
    } else {
        c.data = copied_out(s, c.data);
    }
    s.call = c;
}

void StagedTransport::stage(Staged& s, SumCall c) {
    s.to = c.sum;
    c.sum = s.result = copied_out(s, c.sum);
    s.call = c;
}

// A step begins behind it, and nothing of this rank is under way.
void StagedTransport::stage(Staged& s, const BarrierCall& c) {
    s.call = c;
    memory_.settle();
}

Ticket StagedTransport::start(const Call& call) {
    Staged& s = staged_.emplace_back();
    s.ticket = next_++;
    std::visit([&](const auto& c) { stage(s, c); }, call);
    exchange_what_has_left();
    return s.ticket;
}

bool StagedTransport::has_left(const Staged& s) { return !s.copying || copies_->ended(*s.copying); }

// In the order in which they were started, on which all ranks agree. What is received has nobody to wait for.
void StagedTransport::exchange_what_has_left() {
    bool others_wait = false;
    for (Staged& s : staged_) {
        if (s.stage != Stage::leaves) continue;
        const auto* message = std::get_if<MessageCall>(&s.call);
        const bool receives = message != nullptr && message->receives;
        if (!receives && (others_wait || !has_left(s))) {
            others_wait = true;
            continue;
        }
        s.under_way = host_->start(s.call);
        s.stage = Stage::exchanges;
    }
}

void StagedTransport::go_on(Staged& s) {
    if (s.stage == Stage::exchanges && std::ranges::find(exchanged_, s.under_way) != exchanged_.end()) {
        s.stage = s.result ? Stage::returns : Stage::done;
        if (s.result) s.copying = copies_->begin(s.result, s.to, true);
    } else if (s.stage == Stage::returns && copies_->ended(*s.copying)) {
        s.stage = Stage::done;
    }
}

void StagedTransport::poll(std::vector<Ticket>& done) {
    exchange_what_has_left();
    exchanged_.clear();
    host_->poll(exchanged_);
    std::erase_if(staged_, [&](Staged& s) {
        go_on(s);
        if (s.stage == Stage::done) done.push_back(s.ticket);
        return s.stage == Stage::done;
    });
}

}  // namespace sextant
