#include "cli/data_program.hpp"

#include "cli/child_process.hpp"
#include "cli/progress.hpp"
#include "model/base/diagnostics.hpp"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

namespace sextant {
namespace {

// "sample 3 of 10", "pass 3 of 10": how far the child is; any other line is for the user.
class Listener {
public:
    explicit Listener(std::string label) : label_(std::move(label)) {}

    void operator()(const std::string& line) {
        if (!line.starts_with("sample ") && !line.starts_with("pass ")) {
            progress_.reset();
            std::cout << line << '\n';
            return;
        }
        char* rest = nullptr;
        const std::size_t done = std::strtoul(line.c_str() + line.find(' '), &rest, 10);
        if (!progress_) progress_.emplace(label_, std::strtoul(rest + std::string_view(" of").size(), nullptr, 10));
        progress_->show(done);
    }

private:
    std::string label_;
    std::optional<Progress> progress_;
};

}  // namespace

bool has_data_program() { return std::filesystem::exists(std::filesystem::read_symlink("/proc/self/exe").parent_path() / "sextant-data"); }

ExitCode run_data_program(std::vector<std::string> words, const std::string& label) {
    words.insert(words.begin(), program_beside("sextant-data", "libarchive, LMDB, libjpeg, libpng and zlib"));
    Listener listener(label);
    const int end = run_child(words, std::ref(listener));
    for (const ExitCode known : {ExitCode::done, ExitCode::wrong_input, ExitCode::machine_refused, ExitCode::defect})
        if (end == static_cast<int>(known)) return known;  // it said why
    throw BackendError("sextant-data ended with " + std::to_string(end));
}

}  // namespace sextant
