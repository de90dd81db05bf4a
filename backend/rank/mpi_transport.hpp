// Exchanges by MPI's non-blocking calls.
#pragma once

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
    };
    MPI_Request begin(const CollectiveCall&);
    MPI_Request begin_parts(const CollectiveCall&);
    MPI_Request begin(const MessageCall&);
    MPI_Request begin(const SumCall&);
    MPI_Request begin(const BarrierCall&);
    [[nodiscard]] MPI_Op sum_of(Element) const;

    MPI_Op bf16_sum_, fp16_sum_;
    MPI_Comm world_ = MPI_COMM_NULL;  // for messages
    int largest_tag_ = 0;
    std::map<std::pair<CommunicatorIndex, bool>, MPI_Comm> groups_;  // of the compute stream, and of the others
    std::vector<MPI_Request> requests_;
    std::vector<Ticket> tickets_;    // of the requests
    std::map<Ticket, Parts> parts_;  // of those whose parts differ: MPI reads it until they are done
    std::vector<int> finished_;
    Ticket next_ = 0;
};

}  // namespace sextant
