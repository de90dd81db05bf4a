// oneDNN, and what every operator of the CPU shares: scratch memory, products of matrices, elementwise functions.
// Internal to backend/cpu.
#pragma once

#include "backend/exec/array.hpp"

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

dnnl::memory::data_type type_of(Element);  // of fp32 and bf16

// A matrix in row order; each row begins `pitch` elements behind the one before.
struct Matrix {
    std::byte* data = nullptr;
    Element element = Element::real;
    std::int64_t rows = 0, columns = 0, pitch = 0;
    bool transposed = false;  // rows and columns are those of the matrix that is meant; memory holds it transposed

    // Of the elements of an array, from `first` on.
    Matrix(const Array& a, std::int64_t r, std::int64_t c, std::int64_t p, std::int64_t first)
        : data(a.as<std::byte>() + first * bytes_of(a.element)), element(a.element), rows(r), columns(c), pitch(p) {}
    Matrix(const Array& a, std::int64_t r, std::int64_t c, std::int64_t first = 0) : Matrix(a, r, c, c, first) {}
    [[nodiscard]] Matrix transpose() const;
    [[nodiscard]] Matrix some_rows(std::int64_t first, std::int64_t count) const;
    template <class Value>
    [[nodiscard]] Value* row(std::int64_t r) const {
        return reinterpret_cast<Value*>(data) + r * pitch;
    }
};

// Scratch memory that is used again, and again from the start by each operator.
class Scratch {
public:
    // What is taken during its life can be taken again after it.
    class Part {
    public:
        explicit Part(Scratch& s) : scratch_(s), used_(s.used_) {}
        Part(const Part&) = delete;
        Part& operator=(const Part&) = delete;
        ~Part() { scratch_.used_ = used_; }

    private:
        Scratch& scratch_;
        std::size_t used_;
    };
    float* reals(std::int64_t count);
    Array array(std::int64_t count, Element element = Element::real);
    void reset() { used_ = 0; }

private:
    std::vector<std::vector<float>> blocks_;
    std::size_t used_ = 0;
};

enum class Curve { gelu, silu, sigmoid, tanh, exp };
constexpr bool slope_needs_output(Curve c) { return c == Curve::sigmoid || c == Curve::tanh; }

class Engine {
public:
    Engine();

    dnnl::engine engine;
    dnnl::stream stream;
    Scratch scratch;

    // Whether multiply() takes operands of that type: fp32 everywhere; bf16 where the processor has AMX, as with AVX512_BF16 alone
    // oneDNN 2.6 takes longer than for copies in fp32.
    [[nodiscard]] static bool multiplies(Element);
    // c = scale a b + keep c; of 16 bits, scale is 1 and keep 0 or 1. a and b are of one type. Sums are made in fp32, and rounded where c
    // is narrower.
    void multiply(const Matrix& a, const Matrix& b, const Matrix& c, float scale = 1, float keep = 0);
    // What is stored in fewer bits is rounded.
    void convert(const Array& from, const Array& to);

    // y = curve(x); may be in place.
    void apply(Curve, const float* x, float* y, std::int64_t count);
    // dx = dy curve'(x); `kept` is x, or y where slope_needs_output().
    void differentiate(Curve, const float* kept, const float* dy, float* dx, std::int64_t count);

    // Memory of the user in one of oneDNN's formats.
    [[nodiscard]] dnnl::memory wrap(const dnnl::memory::desc& d, const void* data) const;
    // Made once for each key: making one takes longer than running it on a small shape.
    template <class Primitive, class Make>
    Primitive& cached(const std::string& kind, const std::vector<std::int64_t>& shape, const Make& make) {
        std::shared_ptr<void>& found = cache_[{kind, shape}];
        if (!found) found = std::make_shared<Primitive>(make());
        return *static_cast<Primitive*>(found.get());
    }

private:
    // Whether oneDNN has vector code for it: bf16 from AVX-512 on.
    [[nodiscard]] static bool converts(Element);
    void multiply_reals(const Matrix& a, const Matrix& b, const Matrix& c, float scale, float keep);
    void multiply_turned(const Matrix& a, const Matrix& b, const Matrix& c, float scale, float keep);
    [[nodiscard]] std::byte* turned_memory(std::int64_t elements);
    void multiply_narrow(const Matrix& a, const Matrix& b, const Matrix& c, bool keeps);
    [[nodiscard]] std::uintptr_t fastest_stack();

    std::uintptr_t stack_ = 0;   // where in a page it lies for gradients of functions
    std::vector<float> turned_;  // a factor for oneDNN to read along its rows, or a product that it made the other way round
    std::map<std::pair<std::string, std::vector<std::int64_t>>, std::shared_ptr<void>> cache_;
};

}  // namespace sextant::cpu
