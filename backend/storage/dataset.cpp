#include "backend/storage/dataset.hpp"

#include "model/base/diagnostics.hpp"

namespace sextant {

void throw_damage(std::string what, std::string hint) { throw InputError(Diagnostic{"", "", std::move(what), std::move(hint)}); }

void naming(const std::function<std::string()>& file, const std::function<void()>& work) {
    try {
        work();
    } catch (const InputError& e) {
        std::vector<Diagnostic> named = e.diagnostics();
        for (Diagnostic& d : named)
            if (d.file.empty()) d.file = file();
        throw InputError(std::move(named));
    }
}

void DatasetReader::read(std::int64_t index, Sample& into) const {
    naming([&] { return name(index); }, [&] { read_sample(index, into); });
}

}  // namespace sextant
