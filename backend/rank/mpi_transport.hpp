// Exchanges by MPI's non-blocking calls.
#pragma once

#include "backend/exec/memory_pool.hpp"
#include "backend/exec/transport.hpp"

#include <mpi.h>

#include <map>

namespace sextant {

// Ranks of the graph are those of MPI_COMM_WORLD; behind the workers come the parameter servers.
class MpiTransport final : public Transport {
public:
    // All processes make theirs at the same time.
    MpiTransport(const TaskGraph&, int rank);
    ~MpiTransport() override;

    Ticket start(const Call&) override;
    void poll(std::vector<Ticket>& done) override;

private:
    // Elements, and where they begin, of what each rank gets and of what comes from it.
    struct Parts {
        std::vector<int> sends, send_begins, receives, receive_begins;
        Array terms{}, sum{};  // of a reduce-scatter: what comes from each rank, and where their sum belongs
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
    std::map<std::pair<CommunicatorIndex, bool>, MPI_Comm> groups_;  // of the compute stream, and of the others
    std::vector<MPI_Request> requests_;
    std::vector<Ticket> tickets_;      // of the requests
    std::map<Ticket, Parts> parts_;    // where MPI is told of each part: it reads that until all are there
    MemoryPool rooms_{host_memory()};  // of terms: in a few sizes, which fit again
    std::vector<int> finished_;
    Ticket next_ = 0;
};

}  // namespace sextant
