// What is wrong with an input: where, what, and what would help. All problems are collected before anything is thrown.
#pragma once

#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace sextant {

struct Diagnostic {
    std::string file;     // as the user named it; empty when the input has no file
    std::string pointer;  // RFC 6901 JSON pointer, "" for the whole document
    std::string what;     // "micro_batch must divide global_batch / dp: 7 does not divide 64"
    std::string hint;     // what would help; may be empty

    friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

// "scenarios/x.json:/plan/tp: what\n  hint: ..."
std::string to_text(const Diagnostic&);

// Wrong input. Carries every problem that was found; what() is their text, a line or two each.
class InputError : public std::runtime_error {
public:
    explicit InputError(std::vector<Diagnostic> diagnostics);
    explicit InputError(Diagnostic diagnostic);
    [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

private:
    std::vector<Diagnostic> diagnostics_;
};

// A machine that refuses: MPI, NCCL, CUDA, a disk. Names what was called and why it failed.
class BackendError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Collects problems while an input is read, and the files that it is read from.
class Diagnostics {
public:
    void add(Diagnostic d) { list_.push_back(std::move(d)); }
    [[nodiscard]] bool empty() const { return list_.empty(); }
    [[nodiscard]] const std::vector<Diagnostic>& list() const { return list_; }
    // Those added since there were `first`, which are taken out: a part of the input may be wrong without the whole being so.
    std::vector<Diagnostic> take_from(std::size_t first);
    // Files name others (a scenario its workload), so only those that open them know all of them.
    void opened(const std::filesystem::path& file) { files_.insert(file); }
    [[nodiscard]] const std::set<std::filesystem::path>& files() const { return files_; }
    // Throws InputError with everything collected so far, if anything was.
    void throw_if_any() const;

    // Runs `act`. Where it throws an InputError, its diagnostics are added to these, so that the caller can look for further problems.
    template <class Act>
    void collect(const Act& act) {
        try {
            act();
        } catch (const InputError& e) {
            for (const Diagnostic& d : e.diagnostics()) add(d);
        }
    }

private:
    std::vector<Diagnostic> list_;
    std::set<std::filesystem::path> files_;
};

}  // namespace sextant
