// What computes on a rank, as the process of the rank sees it: the same process serves every engine.
#pragma once

#include "backend/exec/job.hpp"
#include "backend/exec/supports.hpp"
#include "backend/exec/transport.hpp"
#include "backend/rank/mpi_world.hpp"
#include "model/graph/run_record.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

// Memory that ranks which name the same share, and how much of it is left.
struct SharedMemory {
    std::string of;  // "node7", "GPU 0000:1b:00.0 of node7"
    Bytes available;
};

struct ProcessorFacts {
    std::string name;
    std::optional<Frequency> clock;  // now, where the system tells
};

class RankEngine {
public:
    RankEngine() = default;
    RankEngine(const RankEngine&) = delete;
    RankEngine& operator=(const RankEngine&) = delete;
    virtual ~RankEngine() = default;

    [[nodiscard]] virtual std::string name() const = 0;  // as in sextant-exec-NAME
    [[nodiscard]] virtual Abilities abilities() const = 0;
    // What parameter servers of its workers compute on. Of such an engine nobody asks for abilities.
    [[nodiscard]] virtual const RankEngine& of_servers() const { return *this; }
    // Throws BackendError where this machine lacks what it needs.
    virtual void check_machine() const = 0;
    [[nodiscard]] virtual SharedMemory memory(const MpiWorld&) const = 0;
    // What the engine's libraries will take of it, beside the arrays of the job.
    [[nodiscard]] virtual Bytes beside_arrays(const MpiWorld&, const Scenario&) const { return {}; }
    // `threads`: that compute. All ranks make theirs at the same time.
    [[nodiscard]] virtual std::unique_ptr<ComputeDevice> make_device(const MpiWorld&, const Job&, int threads) const = 0;
    // Cores that update in the device's place where a plan offloads, with memory that it copies from and to fastest. Asked for by the
    // thread that has made the device, where abilities() say so.
    [[nodiscard]] virtual std::unique_ptr<ComputeDevice> make_host(const MpiWorld&, int /*threads*/) const { return nullptr; }
    [[nodiscard]] virtual std::unique_ptr<Transport> make_transport(const MpiWorld&, const Job&, ComputeDevice&) const = 0;
    // Beside MPI; and what the device took of them where it had a choice.
    [[nodiscard]] virtual std::vector<LibraryVersion> libraries(ComputeDevice&) const = 0;
    [[nodiscard]] virtual ProcessorFacts processor() const = 0;
};

}  // namespace sextant
