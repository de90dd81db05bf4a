#include "cli/interrupt.hpp"

#include <csignal>
#include <ctime>

namespace sextant {
namespace {

sigset_t ctrl_c() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    return set;
}

void let_through() {
    const sigset_t set = ctrl_c();
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
    const sigset_t set = ctrl_c();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Interrupt::~Interrupt() {
    if (!came_) let_through();
}

bool Interrupt::came() {
    if (came_) return true;
    const sigset_t set = ctrl_c();
    const timespec at_once{};
    came_ = ::sigtimedwait(&set, nullptr, &at_once) == SIGINT;
    if (came_) let_through();
    return came_;
}

}  // namespace sextant
