// Started as two ranks: the first receives messages that have come while it was away. Ends with 0 where most
// of them are noticed by a single poll.
#include "backend/rank/mpi_transport.hpp"
#include "backend/rank/mpi_world.hpp"

#include <chrono>
#include <thread>

int main(int argc, char** argv) {
    using namespace sextant;
    const MpiWorld world(argc, argv);
    const TaskGraph no_collectives;
    MpiTransport transport(no_collectives, world.rank());
    MemoryPool pool(host_memory());
    constexpr std::int64_t elements = 64;  // sent without asking
    const Array data{pool.take(elements * bytes_of(Element::real)), elements};
    const bool receives = world.rank() == 0;
    constexpr int rounds = 20;
    int noticed = 0;
    for (int round = 0; round < rounds; ++round) {
        world.barrier();
        transport.start(MessageCall{1 - world.rank(), message_tag::transfers, receives, data});
        std::vector<Ticket> done;
        if (receives) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            transport.poll(done);
            if (!done.empty()) ++noticed;
        }
        while (done.empty()) transport.poll(done);
    }
    return !receives || noticed > rounds / 2 ? 0 : 1;
}
