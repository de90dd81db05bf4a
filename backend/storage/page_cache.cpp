#include "backend/storage/page_cache.hpp"

#include "backend/storage/file.hpp"
#include "backend/storage/storage_kind.hpp"
#include "model/base/ceil_divide.hpp"
#include "model/base/list_text.hpp"
#include "model/base/quantity_text.hpp"

#include <algorithm>
#include <fstream>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

// Pages of a file that are in memory.
std::uint64_t resident_pages(int file, std::size_t bytes, std::size_t page) {
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) return ceil_divide(bytes, page);
    std::vector<unsigned char> resident(ceil_divide(bytes, page));
    const bool told = ::mincore(mapped, bytes, resident.data()) == 0;
    ::munmap(mapped, bytes);
    return told ? static_cast<std::uint64_t>(std::ranges::count_if(resident, [](unsigned char r) { return (r & 1) != 0; }))
                : resident.size();
}

void drop_file(const fs::path& path, ColdState& state) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (file.number() < 0 || ::fstat(file.number(), &status) != 0 || status.st_size == 0) return;
    ::fdatasync(file.number());  // what the disk does not have yet stays
    ::posix_fadvise(file.number(), 0, 0, POSIX_FADV_DONTNEED);
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto bytes = static_cast<std::size_t>(status.st_size);
    state.all += static_cast<double>(bytes) * units::B;
    state.left += static_cast<double>(resident_pages(file.number(), bytes, page) * page) * units::B;
}

}  // namespace

ColdState drop_from_cache(const fs::path& path) {
    ColdState state;
    if (fs::is_directory(path)) {
        visit_below(path, [&](const fs::directory_entry& e) {
            if (e.is_regular_file()) drop_file(e.path(), state);
        });
    } else {
        drop_file(path, state);
    }
    std::ofstream kernel("/proc/sys/vm/drop_caches");
    kernel << "2\n";  // what is cached of folders and inodes
    kernel.close();
    state.folders_too = static_cast<bool>(kernel);
    return state;
}

std::string shortcoming(const ColdState& state) {
    constexpr double little = 0.01;
    std::string text;
    if (state.left > little * state.all)
        text = percent_text(std::min(1.0, state.left / state.all), 2) +
               " of the data stayed in memory, which the filesystem does not give back";
    if (!state.folders_too) append_to_list(text, "folders and inodes stayed in memory: only root can drop them", "; ");
    return text;
}

std::string beyond_reach(const fs::path& path) {
    const StorageFacts facts = storage_facts(path);
    if (facts.kind == StorageKind::memory) return {};
    if (facts.shared) return "its server may still have in memory what was written or read lately";
    std::ifstream processor("/proc/cpuinfo");
    for (std::string line; std::getline(processor, line);)
        if (line.starts_with("flags") && line.find(" hypervisor") != std::string::npos)
            return "this machine is virtual: its host may still have in memory what was written or read lately";
    return {};
}

ReadCounters read_counters() {
    ReadCounters counters;
    std::ifstream io("/proc/self/io");
    std::string key;
    for (double value = 0; io >> key >> value;) {
        if (key == "syscr:") counters.calls = value;
        if (key == "read_bytes:") counters.from_disk = value * units::B;
    }
    return counters;
}

}  // namespace sextant
