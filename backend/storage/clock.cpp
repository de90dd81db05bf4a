#include "backend/storage/clock.hpp"

namespace sextant {

Seconds now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() * units::s; }

}  // namespace sextant
