// The engine that computes on a rank. The process of a rank is the same for every engine.
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

// A memory and how much of it is left. Ranks that give the same name share it.
struct SharedMemory {
    std::string name;  // "node7", "GPU 0000:1b:00.0 of node7"
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
    // The engine of the parameter servers of its workers. Its abilities() are not used.
    [[nodiscard]] virtual const RankEngine& of_servers() const { return *this; }
    // Throws BackendError where this machine lacks what the engine needs.
    virtual void check_machine() const = 0;
    [[nodiscard]] virtual SharedMemory memory(const MpiWorld&) const = 0;
    // What the engine's libraries will take of that memory, beside the arrays of the job.
    [[nodiscard]] virtual Bytes beside_arrays(const MpiWorld&, const Scenario&) const { return {}; }
    // `threads`: that compute. A collective call of all ranks.
    [[nodiscard]] virtual std::unique_ptr<ComputeDevice> make_device(const MpiWorld&, const Job&, int threads) const = 0;
    // The cores that update in place of the device where a plan offloads, with memory to and from which the device copies fastest. Called
    // by the thread that made the device, if abilities() include offloading.
    [[nodiscard]] virtual std::unique_ptr<ComputeDevice> make_host(const MpiWorld&, int /*threads*/) const { return nullptr; }
    [[nodiscard]] virtual std::unique_ptr<Transport> make_transport(const MpiWorld&, const Job&, ComputeDevice&) const = 0;
    // The libraries beside MPI, and which of their implementations the device chose.
    [[nodiscard]] virtual std::vector<LibraryVersion> libraries(ComputeDevice&) const = 0;
    [[nodiscard]] virtual ProcessorFacts processor() const = 0;
};

}  // namespace sextant
