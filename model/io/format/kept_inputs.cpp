#include "model/io/format/kept_inputs.hpp"

#include "model/base/diagnostics.hpp"

namespace sextant {
namespace {

KeptInputs* of_process = nullptr;

}  // namespace

KeptInputs::KeptInputs() { of_process = this; }
KeptInputs::~KeptInputs() { of_process = nullptr; }

void KeptInputs::add(const std::filesystem::path& path) {
    const std::scoped_lock lock(mutex_);
    places_.insert(place_of(path));
}

bool KeptInputs::has(const std::filesystem::path& path) {
    const std::scoped_lock lock(mutex_);
    return places_.contains(place_of(path));
}

void keep_input(const std::filesystem::path& path) {
    if (of_process) of_process->add(path);
}

// A device or a pipe takes what comes.
bool is_kept_input(const std::filesystem::path& path) {
    return of_process && std::filesystem::is_regular_file(path) && of_process->has(path);
}

void refuse_kept_input(const std::filesystem::path& path) {
    if (is_kept_input(path)) throw InputError(Diagnostic{path.string(), "", "is read, and would be written over", "another name"});
}

std::filesystem::path place_of(const std::filesystem::path& path) {
    std::error_code error;
    std::filesystem::path place = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
    return error ? path : place;
}

}  // namespace sextant
