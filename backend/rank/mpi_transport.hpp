// A transport that uses MPI's non-blocking calls.
#pragma once

#include "backend/exec/memory_pool.hpp"
#include "backend/exec/transport.hpp"

#include <mpi.h>

#include <map>

namespace sextant {

// Ranks of the graph are ranks of MPI_COMM_WORLD, with the parameter servers behind the workers.
class MpiTransport final : public Transport {
public:
    // A collective call of all processes.
    MpiTransport(const TaskGraph&, int rank);
    ~MpiTransport() override;

    Ticket start(const Call&) override;
    void poll(std::vector<Ticket>& done) override;

private:
    // Elements that go to and come from each rank, and where they begin.
    struct Parts {
        std::vector<int> sends, send_begins, receives, receive_begins;
        Array terms{}, sum{};  // of a reduce-scatter: what comes from each rank, and the array for their sum
    };
    MPI_Request begin(const CollectiveCall&);
    MPI_Request begin_parts(const CollectiveCall&);
    MPI_Request begin_reduce_scatter(const CollectiveCall&);
    void add_terms(const Parts&) const;
    MPI_Request begin(const MessageCall&);
    MPI_Request begin(const SumCall&);
    MPI_Request begin(const BarrierCall&);
    [[nodiscard]] MPI_Op sum_of(Element) const;

    MPI_Op bf16_sum_, fp16_sum_;
    MPI_Comm world_ = MPI_COMM_NULL;  // for messages
    int largest_tag_ = 0;
    std::map<std::pair<CommunicatorIndex, bool>, MPI_Comm> groups_;  // bool: for the compute stream, else for the others
    std::vector<MPI_Request> requests_;
    std::vector<Ticket> tickets_;      // of the requests
    std::map<Ticket, Parts> parts_;    // of calls with unequal parts: MPI reads them until the call is done
    MemoryPool rooms_{host_memory()};  // for terms, whose sizes recur
    std::vector<int> finished_;
    Ticket next_ = 0;
};

}  // namespace sextant
