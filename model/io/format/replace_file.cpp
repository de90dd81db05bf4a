#include "model/io/format/replace_file.hpp"

#include "model/base/diagnostics.hpp"

#include <fstream>
#include <system_error>

namespace sextant {

void replace_file(const std::filesystem::path& path, const std::function<void(const std::filesystem::path&)>& write) {
    const std::filesystem::path aside = path.string() + ".part";
    std::error_code error;
    try {
        write(aside);
        std::filesystem::rename(aside, path, error);
        if (error) throw BackendError("cannot write " + path.string() + ": " + error.message());
    } catch (...) {
        std::filesystem::remove(aside, error);
        throw;
    }
}

void replace_text_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write) {
    replace_file(path, [&](const std::filesystem::path& aside) {
        std::ofstream out(aside, std::ios::binary);
        if (!out) throw BackendError("cannot write " + aside.string());
        write(out);
        out.close();
        if (!out) throw BackendError("cannot write all of " + aside.string() + ": is the disk full?");
    });
}

}  // namespace sextant
