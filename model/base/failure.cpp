#include "model/base/failure.hpp"

#include "model/base/diagnostics.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <system_error>

namespace sextant {

Failure failure_of(const std::exception_ptr& thrown) {
    using enum ExitCode;
    try {
        std::rethrow_exception(thrown);
    } catch (const InputError& e) {
        return {wrong_input, e.what()};
    } catch (const BackendError& e) {
        return {machine_refused, e.what()};
    } catch (const std::bad_alloc&) {
        return {machine_refused, "out of memory"};
    } catch (const std::filesystem::filesystem_error& e) {
        const std::string where = e.path1().empty() ? "the current directory" : e.path1().string();
        return {machine_refused, where + ": " + e.code().message()};
    } catch (const std::system_error& e) {  // of threads
        const bool thread = e.code() == std::errc::resource_unavailable_try_again;
        return {machine_refused, thread ? "out of memory, or of processes: no thread could be started" : e.what()};
    } catch (const std::exception& e) {
        return {defect, std::string("a defect in sextant itself, please report it: ") + e.what()};
    }
}

std::string to_text(const Failure& f) {
    if (f.code == ExitCode::wrong_input) return f.why;
    return (f.code == ExitCode::machine_refused ? "sextant: the machine refused: " : "sextant: ") + f.why;
}

void broken_invariant(const char* what) {
    std::fprintf(stderr, "sextant: a defect in sextant itself, please report it: %s\n", what);
    std::abort();
}

}  // namespace sextant
