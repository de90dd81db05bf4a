// Uses NCCL for collectives whose ranks have a GPU each, and another transport for everything else: messages, and groups with ranks that
// share a GPU. Throws BackendError with NCCL's reason.
#pragma once

#include "backend/cuda/gpu.hpp"
#include "backend/exec/transport.hpp"

#include <nccl.h>

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sextant::cuda {

class NcclTransport final : public Transport {
public:
    // A collective call of all processes. `host` and `bus`, the PCI address of this rank's GPU there, show which ranks share a GPU.
    NcclTransport(const TaskGraph&, int rank, int gpu, const std::string& host, const std::string& bus, std::unique_ptr<Transport> others);

    Ticket start(const Call&) override;
    void poll(std::vector<Ticket>& done) override;

private:
    struct Group {
        WorkStream stream;  // a CUDA stream of its own, which must outlive the communicator
        std::shared_ptr<ncclComm> communicator;
    };
    struct Running {
        Ticket ticket;
        Group* group;
        CollectiveCall call;  // keeps its arrays until it is done
        Event event;
    };
    Group make_group(const std::vector<int>& members, int rank) const;
    void connect(const Group&, std::size_t members) const;
    static void begin(const CollectiveCall&, const Group&);
    static void begin_parts(const CollectiveCall&, const Group&);

    int gpu_;
    std::map<std::pair<CommunicatorIndex, bool>, Group> groups_;  // of the compute stream, and of the others
    std::unique_ptr<Transport> others_;
    std::list<Running> running_;
    std::map<Ticket, Ticket> of_others_;  // by the other transport's
    std::vector<Ticket> others_done_;
    Ticket next_ = 0;
};

}  // namespace sextant::cuda
