// What the C interface of HDF5 lacks: handles that close themselves, and errors as text instead of on stderr.
#pragma once

#include <hdf5.h>

#include <string>
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

// What the innermost function that failed last said: "unable to open file".
inline std::string hdf5_error() {
    std::string text;
    const auto first = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        auto& found = *static_cast<std::string*>(out);
        if (found.empty() && error->desc) found = error->desc;
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first, &text);
    return text;
}

}  // namespace sextant
