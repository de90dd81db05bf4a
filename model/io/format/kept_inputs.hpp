// What a program reads it does not write over: of programs that answer and end. A window, which saves what it opened, has no KeptInputs.
#pragma once

#include <filesystem>
#include <mutex>
#include <set>

namespace sextant {

// While one lives, every file that the readers of model/io open is kept, and ReplacedFiles refuses to take its place. Files name others
// (a scenario its workload), so only those that open them know all of them; for their sake this is one for the whole process.
class KeptInputs {
public:
    KeptInputs();
    ~KeptInputs();
    KeptInputs(const KeptInputs&) = delete;
    KeptInputs& operator=(const KeptInputs&) = delete;

    void add(const std::filesystem::path&);
    [[nodiscard]] bool has(const std::filesystem::path&);

private:
    std::mutex mutex_;
    std::set<std::filesystem::path> places_;
};

// Of the process, if it has one.
void keep_input(const std::filesystem::path&);
bool is_kept_input(const std::filesystem::path&);
// Throws InputError where it is one.
void refuse_kept_input(const std::filesystem::path&);

// Which file a path leads to, whether or not there is one yet.
std::filesystem::path place_of(const std::filesystem::path&);

}  // namespace sextant
