#include "backend/exec/staged_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Array array_of(std::vector<float>& values) {
    return {std::shared_ptr<void>(std::shared_ptr<void>(), values.data()), static_cast<std::int64_t>(values.size()), Element::real};
}

// What the two sides of a staged transport were asked for, and what the test lets them come to.
struct Script {
    std::vector<std::string> started;  // by tag, or "collective"
    std::vector<Ticket> ended;
    int copies_allowed = 0;
};

class Host final : public Transport {
public:
    explicit Host(Script& script) : script_(script) {}
    Ticket start(const Call& call) override {
        if (const auto* m = std::get_if<MessageCall>(&call)) {
            script_.started.push_back(std::to_string(m->tag));
            if (m->receives) std::fill_n(m->data.reals(), m->data.elements, 5.0F);
        } else if (const auto* c = std::get_if<CollectiveCall>(&call)) {
            script_.started.emplace_back("collective");
            for (std::int64_t i = 0; i < c->to.elements; ++i) c->to.reals()[i] = 2 * c->from.reals()[i];
        } else {
            script_.started.emplace_back("barrier");
        }
        return next_++;
    }
    void poll(std::vector<Ticket>& done) override { done.swap(script_.ended); }

private:
    Script& script_;
    Ticket next_ = 10;  // not those of the other side
};

// A copy is made, and ended, when one more is allowed; in their order.
class Copies final : public StagingCopies {
public:
    explicit Copies(Script& script) : script_(script) {}
    [[nodiscard]] MemorySource host_memory() const override { return sextant::host_memory(); }
    Mark begin(const Array& from, const Array& to, bool) override {
        copies_.emplace_back(from, to);
        return {static_cast<double>(copies_.size()) * units::s};
    }
    bool ended(const Mark& m) override {
        const auto number = static_cast<std::size_t>(m.made.si());
        if (static_cast<int>(number) > script_.copies_allowed) return false;
        const auto& [from, to] = copies_[number - 1];
        std::memcpy(to.memory.get(), from.memory.get(), static_cast<std::size_t>(to.bytes()));
        return true;
    }

private:
    Script& script_;
    std::vector<std::pair<Array, Array>> copies_;
};

class Staged : public testing::Test {
protected:
    std::vector<Ticket> poll() {
        std::vector<Ticket> done;
        transport_.poll(done);
        return done;
    }
    Script script_;
    StagedTransport transport_{std::make_unique<Host>(script_), std::make_unique<Copies>(script_)};
    std::vector<float> values_{1, 2}, others_{0, 0};
};

TEST_F(Staged, AReductionLeavesIsMadeAndReturns) {
    const Array sum = array_of(values_);
    const Ticket t = transport_.start(CollectiveCall{ExchangeKind::all_reduce, 0, Stream::compute, sum, sum});
    EXPECT_THAT(script_.started, IsEmpty()) << "it has not left the device";
    script_.copies_allowed = 1;
    EXPECT_THAT(poll(), IsEmpty());
    EXPECT_THAT(script_.started, ElementsAre("collective"));
    script_.ended = {10};
    EXPECT_THAT(poll(), IsEmpty()) << "the sum is on its way back";
    EXPECT_THAT(values_, ElementsAre(1, 2));
    script_.copies_allowed = 2;
    EXPECT_THAT(poll(), ElementsAre(t));
    EXPECT_THAT(values_, ElementsAre(2, 4));
}

TEST_F(Staged, WhatIsReceivedWaitsForNobodyAndWhatIsSentForThoseBefore) {
    const Ticket sent = transport_.start(MessageCall{1, 7, false, array_of(values_)});
    const Ticket barrier = transport_.start(BarrierCall{});
    const Ticket received = transport_.start(MessageCall{1, 8, true, array_of(others_)});
    EXPECT_THAT(script_.started, ElementsAre("8"));
    script_.copies_allowed = 1;
    EXPECT_THAT(poll(), IsEmpty());
    EXPECT_THAT(script_.started, ElementsAre("8", "7", "barrier"));
    script_.ended = {11, 12};
    EXPECT_THAT(poll(), ElementsAre(sent, barrier));
    script_.ended = {10};
    EXPECT_THAT(poll(), IsEmpty());
    script_.copies_allowed = 2;
    EXPECT_THAT(poll(), ElementsAre(received));
    EXPECT_THAT(others_, ElementsAre(5, 5));
}

}  // namespace
}  // namespace sextant
