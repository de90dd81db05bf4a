#include "backend/storage/storage_kind.hpp"

#include "model/base/diagnostics.hpp"
#include "model/base/quantity_text.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

// statfs(2), and the headers of the filesystems for those that it does not list.
constexpr std::uint64_t nfs = 0x6969, smb = 0xfe534d42, fuse = 0x65735546, ceph = 0xc36400, lustre = 0x0bd00bd0, gpfs = 0x47504653,
                        beegfs = 0x19830326, memory = 0x01021994, ram = 0x858458f6;

// The kind of a block device: a disk turns, and an NVMe says so by its name. A partition has no queue of its own, but its disk has.
StorageKind kind_of_device(dev_t device) {
    std::error_code error;
    const fs::path link = "/sys/dev/block/" + std::to_string(major(device)) + ":" + std::to_string(minor(device));
    const fs::path at = fs::canonical(link, error);
    if (error) return StorageKind::ssd;
    if (at.string().find("/nvme") != std::string::npos) return StorageKind::nvme;
    for (const fs::path& of : {at, at.parent_path()}) {
        int rotates = 0;
        if (std::ifstream(of / "queue/rotational") >> rotates) return rotates != 0 ? StorageKind::disk : StorageKind::ssd;
    }
    return StorageKind::ssd;
}

// A partition has that of its disk.
std::optional<Bytes> read_ahead_of(dev_t device) {
    const std::string number = std::to_string(major(device)) + ":" + std::to_string(minor(device));
    const fs::path block = "/sys/dev/block/" + number;
    for (const fs::path& at :
         {fs::path("/sys/class/bdi/" + number + "/read_ahead_kb"), block / "queue/read_ahead_kb", block / "../queue/read_ahead_kb"}) {
        double kib = 0;
        if (std::ifstream(at) >> kib && kib > 0) return kib * units::KiB;
    }
    return {};
}

}  // namespace

StorageFacts storage_facts(const fs::path& path) {
    struct statfs filesystem {};
    struct stat status {};
    if (::statfs(path.c_str(), &filesystem) != 0 || ::stat(path.c_str(), &status) != 0)
        throw BackendError("the system says nothing of " + path.string() + ": " + std::strerror(errno));
    StorageFacts facts;
    facts.read_ahead = read_ahead_of(status.st_dev);
    facts.free = static_cast<double>(filesystem.f_bavail) * static_cast<double>(filesystem.f_bsize) * units::B;
    switch (static_cast<std::uint32_t>(filesystem.f_type)) {
        case nfs:
        case smb:
        case fuse:  // most of them are over a network: sshfs, s3fs
            facts.kind = StorageKind::nfs;
            break;
        case ceph:
        case lustre:
        case gpfs:
        case beegfs: facts.kind = StorageKind::parallel; break;
        case memory:
        case ram: facts.kind = StorageKind::memory; return facts;
        default: facts.kind = kind_of_device(status.st_dev); return facts;
    }
    facts.shared = true;
    return facts;
}

void check_room(const fs::path& folder, Bytes needed, std::string hint) {
    const Bytes free = storage_facts(folder).free;
    if (needed > free)
        throw InputError(Diagnostic{
            folder.string(), "", "the dataset takes " + to_text(needed) + " there, and " + to_text(free) + " are free", std::move(hint)});
}

}  // namespace sextant
