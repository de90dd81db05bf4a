// What the C interface of HDF5 lacks: handles that close themselves, and errors as text instead of on stderr.
#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

namespace sextant {

class Hdf5Handle {
public:
    using Close = herr_t (*)(hid_t);
    Hdf5Handle() = default;
    Hdf5Handle(hid_t id, Close closing) : id_(id), close_(closing) {}
    Hdf5Handle(Hdf5Handle&& o) noexcept : id_(std::exchange(o.id_, H5I_INVALID_HID)), close_(o.close_) {}
    Hdf5Handle& operator=(Hdf5Handle&& o) noexcept {
        std::swap(id_, o.id_), std::swap(close_, o.close_);
        return *this;
    }
    ~Hdf5Handle() {
        if (id_ >= 0) close_(id_);
    }
    [[nodiscard]] hid_t id() const { return id_; }
    explicit operator bool() const { return id_ >= 0; }
    // Closes now, and says whether that went well: what was written may reach the disk only then.
    [[nodiscard]] bool close() { return close_(std::exchange(id_, H5I_INVALID_HID)) >= 0; }

private:
    hid_t id_ = H5I_INVALID_HID;
    Close close_ = nullptr;
};

// While it lives, HDF5 prints nothing. Made before HDF5 is first called: a damaged file may leave something open inside the library, which
// would then complain on stderr when the program ends. All that is ours is closed by then.
class QuietHdf5 {
public:
    QuietHdf5() {
        [[maybe_unused]] static const herr_t once = H5dont_atexit();
        H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    QuietHdf5(const QuietHdf5&) = delete;
    QuietHdf5& operator=(const QuietHdf5&) = delete;
    ~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

private:
    H5E_auto2_t print_ = nullptr;
    void* data_ = nullptr;
};

inline constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";
inline constexpr std::size_t hdf5_superblock_bytes = 60;  // the most that is_single_hdf5 looks at, less than any file has

// Is that how a file begins that stands alone? Files that a driver spreads over several name a block of information for it, and HDF5
// takes as much memory as that block says it has, up to 4 GB, before it finds that the file ends. (HDF5 File Format Specification, II.A.)
inline bool is_single_hdf5(std::string_view start) {
    if (!start.starts_with(hdf5_signature) || start.size() < hdf5_superblock_bytes) return false;
    const char version = start[8], address_bytes = start[13];
    if (version > 1) return true;  // has no such block
    return address_bytes == 8 && start.substr(version == 0 ? 48 : 52, 8) == "\xff\xff\xff\xff\xff\xff\xff\xff";
}

// Opens for reading what begins so. No handle where that fails: see hdf5_error.
inline Hdf5Handle open_hdf5(const std::string& path, std::string_view start, hid_t access = H5P_DEFAULT) {
    if (is_single_hdf5(start)) return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose};
    H5Eclear2(H5E_DEFAULT);
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_FILE, H5E_NOTHDF5, "it does not begin as one");
    return {};
}

// What the innermost function that failed last said, "it does not begin as one"; where the system refused, what that says: "No space left
// on device".
inline std::string hdf5_error() {
    std::string text;
    const auto first = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        auto& found = *static_cast<std::string*>(out);
        if (found.empty() && error->desc) found = error->desc;
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first, &text);
    constexpr std::string_view said_by_system = "error message = '";
    const std::size_t at = text.find(said_by_system);
    if (at == std::string::npos) return text;
    text.erase(0, at + said_by_system.size());
    return text.substr(0, text.find('\''));
}

}  // namespace sextant
