// Small networks of each kind, as fixtures/make_fixtures.py has them, and data for them.
#pragma once

#include "tests/backend/whole_network.hpp"

#include <string>

namespace sextant {

struct SmallNetwork {
    Workload workload;
    std::int64_t samples = 1;
};

SmallNetwork small_network(const std::string& name);
// Sets the weights from which the fixtures began.
void set_made_weights(ComputeDevice&, const WholeNetwork&);
// The data of the fixtures; `index`: of the first input.
WholeNetwork::Data made_data(ComputeDevice&, const std::string& name, std::uint64_t index = 0);

}  // namespace sextant
