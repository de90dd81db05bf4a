// What parameter servers take to move and to work on gradients and weights. Internal to predict.
#pragma once

#include "model/cost/shared_with_servers.hpp"
#include "model/predict/state.hpp"

#include <optional>

namespace sextant {

// The time in which one worker sends this much to all servers together, or they to it, while all other workers do the same.
Seconds server_way_time(const Prepared::State&, Bytes, const Resources&);
// The same for gradients. Zero beside workers that are cores: there a server copies them itself, which is part of what it does with them.
Seconds push_time(const Prepared::State&, Bytes, const Resources&);
// Who shares cores, where servers are processes beside workers.
std::optional<SharedWithServers> shared_with_servers(const Prepared::State&);
// How long a parameter server takes to add gradients to their sum, and to update weights with it: bound by host memory, which the servers
// of a host share. Where the workers are cores, so is the server, and taking the gradients from them is included.
Seconds server_sum_time(const Prepared::State&, Bytes gradients);
Seconds server_update_time(const Prepared::State&, Bytes gradients);

}  // namespace sextant
