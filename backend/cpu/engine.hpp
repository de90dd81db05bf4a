// oneDNN, and what every operator of the CPU shares: scratch memory, products of matrices, elementwise functions.
// Internal to backend/cpu.
#pragma once

#include <dnnl.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace sextant::cpu {

// A matrix in row order; each row begins `pitch` elements behind the one before.
struct Matrix {
    float* data = nullptr;
    std::int64_t rows = 0, columns = 0, pitch = 0;
    bool transposed = false;  // rows and columns are those of the matrix that is meant; memory holds it transposed

    Matrix(float* d, std::int64_t r, std::int64_t c, std::int64_t p) : data(d), rows(r), columns(c), pitch(p) {}
    Matrix(float* d, std::int64_t r, std::int64_t c) : Matrix(d, r, c, c) {}
    [[nodiscard]] Matrix turned() const;
};

// c = scale a b + keep c.
void multiply(const Matrix& a, const Matrix& b, const Matrix& c, float scale = 1, float keep = 0);

// Scratch memory that is used again, and again from the start by each operator.
class Scratch {
public:
    float* reals(std::int64_t count);
    void reset() { used_ = 0; }

private:
    std::vector<std::vector<float>> blocks_;
    std::size_t used_ = 0;
};

enum class Curve { gelu, silu, sigmoid, tanh, exp };

class Engine {
public:
    Engine();

    dnnl::engine engine;
    dnnl::stream stream;
    Scratch scratch;

    // y = curve(x); may be in place.
    void apply(Curve, const float* x, float* y, std::int64_t count);
    // dx = dy curve'(x); of sigmoid and tanh, `kept` is y rather than x.
    void differentiate(Curve, const float* kept, const float* dy, float* dx, std::int64_t count);

    // Memory of the user in one of oneDNN's formats.
    [[nodiscard]] dnnl::memory wrap(const dnnl::memory::desc& d, const float* data) const;
    // Made once for each key: making one takes longer than running it on a small shape.
    template <class Primitive, class Make>
    Primitive& cached(const std::string& kind, const std::vector<std::int64_t>& shape, const Make& make) {
        std::shared_ptr<void>& found = cache_[{kind, shape}];
        if (!found) found = std::make_shared<Primitive>(make());
        return *static_cast<Primitive*>(found.get());
    }

private:
    std::map<std::pair<std::string, std::vector<std::int64_t>>, std::shared_ptr<void>> cache_;
};

}  // namespace sextant::cpu
