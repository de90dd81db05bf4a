// Exchanges of arrays that lie on a device, by a transport that takes arrays of the host: copied there, exchanged, copied back.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/exec/staging_memory.hpp"
#include "backend/exec/transport.hpp"

#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace sextant {

// Copies between a device and memory of the host, beside the device's work. One thread makes all calls.
class StagingCopies {
public:
    StagingCopies() = default;
    StagingCopies(const StagingCopies&) = delete;
    StagingCopies& operator=(const StagingCopies&) = delete;
    virtual ~StagingCopies() = default;

    [[nodiscard]] virtual MemorySource host_memory() const = 0;  // from and to which they are fastest
    // Begins a copy, behind those begun before.
    virtual Mark begin(const Array& from, const Array& to, bool to_device) = 0;
    virtual bool ended(const Mark&) = 0;  // not to be asked again once it has said so
};

class StagedTransport final : public Transport {
public:
    StagedTransport(std::unique_ptr<Transport> host, std::unique_ptr<StagingCopies> copies)
        : host_(std::move(host)), copies_(std::move(copies)), memory_(copies_->host_memory()) {}

    Ticket start(const Call&) override;
    void poll(std::vector<Ticket>& done) override;

private:
    enum class Stage { leaves, exchanges, returns, done };
    struct Staged {
        Ticket ticket = 0;
        Call call{};  // of arrays of the host
        Stage stage = Stage::leaves;
        std::optional<Mark> copying{};  // as it leaves or returns; none where nothing is to leave
        Ticket under_way = 0;           // of the host's transport
        Array result{}, to{};           // what returns, and where it belongs; none where nothing does
    };
    void stage(Staged&, CollectiveCall);
    void stage(Staged&, MessageCall);
    void stage(Staged&, SumCall);
    void stage(Staged&, const BarrierCall&);
    Array copied_out(Staged&, const Array&);
    [[nodiscard]] bool has_left(const Staged&);
    void exchange_what_has_left();
    void go_on(Staged&);

    std::unique_ptr<Transport> host_;
    std::unique_ptr<StagingCopies> copies_;
    StagingMemory memory_;
    std::list<Staged> staged_;  // in the order of their starts
    std::vector<Ticket> exchanged_;
    Ticket next_ = 0;
};

}  // namespace sextant
