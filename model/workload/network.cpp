#include "model/workload/network.hpp"

namespace sextant {

double Network::parameters() const {
    double sum = 0;
    for (const int index : sequence) sum += templates[index].graph.parameters();
    return sum;
}

}  // namespace sextant
