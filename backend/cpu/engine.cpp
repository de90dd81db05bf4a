#include "backend/cpu/engine.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <utility>

namespace sextant::cpu {
namespace {

dnnl::algorithm forward_algorithm(Curve c) {
    switch (c) {
        case Curve::gelu:
            return dnnl::algorithm::eltwise_gelu_erf;
        case Curve::silu:
            return dnnl::algorithm::eltwise_swish;
        case Curve::sigmoid:
            return dnnl::algorithm::eltwise_logistic;
        case Curve::tanh:
            return dnnl::algorithm::eltwise_tanh;
        case Curve::exp:
            break;
    }
    return dnnl::algorithm::eltwise_exp;
}

dnnl::algorithm backward_algorithm(Curve c) {
    if (c == Curve::sigmoid) return dnnl::algorithm::eltwise_logistic_use_dst_for_bwd;
    if (c == Curve::tanh) return dnnl::algorithm::eltwise_tanh_use_dst_for_bwd;
    return forward_algorithm(c);
}

constexpr float swish_beta = 1;  // silu; the other functions have no parameter

dnnl::eltwise_forward::primitive_desc describe(const dnnl::engine& engine, dnnl::algorithm a, const dnnl::memory::desc& d) {
    return {{dnnl::prop_kind::forward_training, a, d, swish_beta, 0}, engine};
}

dnnl::memory::desc vector_of(std::int64_t count, Element e = Element::real) { return {{count}, type_of(e), dnnl::memory::format_tag::a}; }

dnnl::memory::desc describe(const Matrix& m) {
    const dnnl::memory::dims strides = m.transposed ? dnnl::memory::dims{1, m.pitch} : dnnl::memory::dims{m.pitch, 1};
    return {{m.rows, m.columns}, type_of(m.element), strides};
}

bool has_isa(dnnl::cpu_isa wanted) {
    return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
}

// The code that oneDNN writes for the gradient of a function keeps vectors on the stack, wherever that is. Vectors that lie across lines of
// the cache, or across pages, make it take up to three times as long (oneDNN 2.6 on an EPYC: GELU 0.8 or 1.7 to 2.4 ns an element), and
// where a stack begins depends on as little as the length of the environment. So it is moved down to one place in a page: the fastest of
// some, which differ by how they lie to lines, and by a part of a page.
constexpr std::uintptr_t page = 4096;
constexpr std::array<std::uintptr_t, 8> stack_places = {0, 16, 32, 48, 1024, 1040, 1056, 1072};

[[gnu::noinline]] void execute_on_stack(std::uintptr_t place, const dnnl::primitive& primitive, const dnnl::stream& stream,
                                        const std::unordered_map<int, dnnl::memory>& arguments) {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    auto* room = static_cast<volatile char*>(__builtin_alloca(1 + (here - place) % page));
    room[0] = 0;  // else nobody needs it
    primitive.execute(stream, arguments);
}

// c = scale a b + keep c, summed over so many rows of b at a time.
void multiply_by_steps(const Matrix& a, const Matrix& b, const Matrix& c, float scale, float keep, std::int64_t step) {
    for (std::int64_t k = 0; k < a.columns; k += step) {
        const float* first = a.transposed ? a.row<float>(k) : a.row<float>(0) + k;
        const float* second = b.transposed ? b.row<float>(0) + k : b.row<float>(k);
        const auto status =
            dnnl::sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', c.rows, c.columns, std::min(step, a.columns - k), scale, first,
                        a.pitch, second, b.pitch, k == 0 ? keep : 1, c.row<float>(0), c.pitch);
        dnnl::error::wrap_c_api(static_cast<dnnl_status_t>(status), "refused a product of matrices");
    }
}

// What memory holds transposed, in the order that is meant. By squares whose lines a core's first cache holds.
void turn(const Matrix& m, float* to) {
    constexpr std::int64_t side = 16;
    for (std::int64_t c = 0; c < m.columns; c += side)
        for (std::int64_t r = 0; r < m.rows; r += side)
            for (std::int64_t i = r; i < std::min(m.rows, r + side); ++i)
                for (std::int64_t k = c; k < std::min(m.columns, c + side); ++k) to[i * m.columns + k] = m.row<float>(k)[i];
}

}  // namespace

dnnl::memory::data_type type_of(Element e) { return e == Element::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32; }

Matrix Matrix::transpose() const {
    Matrix t = *this;
    std::swap(t.rows, t.columns);
    t.transposed = !transposed;
    return t;
}

Matrix Matrix::some_rows(std::int64_t first, std::int64_t count) const {
    Matrix some = *this;
    some.data += first * pitch * bytes_of(element);
    some.rows = count;
    return some;
}

bool Engine::multiplies(Element e) {
    if (e == Element::real) return true;
    return e == Element::bf16 && has_isa(dnnl::cpu_isa::avx512_core_amx);
}

bool Engine::converts(Element e) { return e == Element::real || (e == Element::bf16 && has_isa(dnnl::cpu_isa::avx512_core)); }

void Engine::multiply(const Matrix& a, const Matrix& b, const Matrix& c, float scale, float keep) {
    if (a.element == Element::real) return multiply_reals(a, b, c, scale, keep);
    assert(scale == 1 && (keep == 0 || keep == 1));
    multiply_narrow(a, b, c, keep != 0);
}

// Rows of a transposed matrix that are a multiple of 2 KiB apart fall into a few sets of a core's caches, and where the result is narrow
// oneDNN does not pack them first. With AVX-512 no more rows are summed over at a time than the sets hold: so weight gradients of 1024 x
// 256 take 0.7 times as long (Xeon, oneDNN 2.6). Without it the matrix is transposed first: 0.68 times (EPYC).
void Engine::multiply_reals(const Matrix& a, const Matrix& b, const Matrix& c, float scale, float keep) {
    constexpr std::int64_t few_sets = 2048 / sizeof(float), packed_width = 1024, rows_at_a_time = 192;
    const bool crowded = a.transposed && a.pitch % few_sets == 0 && c.columns < packed_width;
    if (!crowded) return multiply_by_steps(a, b, c, scale, keep, a.columns);
    static const bool sums_by_steps = has_isa(dnnl::cpu_isa::avx512_core);
    if (sums_by_steps) return multiply_by_steps(a, b, c, scale, keep, rows_at_a_time);
    const std::int64_t elements = a.rows * a.columns;
    if (std::ssize(turned_) < elements) turned_.resize(static_cast<std::size_t>(elements));
    turn(a, turned_.data());
    Matrix straight = a;
    straight.data = reinterpret_cast<std::byte*>(turned_.data());
    straight.pitch = a.columns;
    straight.transposed = false;
    multiply_by_steps(straight, b, c, scale, keep, a.columns);
}

void Engine::multiply_narrow(const Matrix& a, const Matrix& b, const Matrix& c, bool keeps) {
    const dnnl::memory::desc first = describe(a), second = describe(b), result = describe(c);
    const std::vector<std::int64_t> key{a.rows,       a.columns, b.columns,           a.pitch, a.transposed, b.pitch,
                                        b.transposed, c.pitch,   bytes_of(c.element), keeps};
    auto& primitive = cached<dnnl::matmul>("product", key, [&] {
        dnnl::primitive_attr attributes;
        dnnl::post_ops sum;
        if (keeps) sum.append_sum(1);
        attributes.set_post_ops(sum);
        return dnnl::matmul(dnnl::matmul::primitive_desc({first, second, result}, attributes, engine));
    });
    primitive.execute(
        stream, {{DNNL_ARG_SRC, wrap(first, a.data)}, {DNNL_ARG_WEIGHTS, wrap(second, b.data)}, {DNNL_ARG_DST, wrap(result, c.data)}});
}

void Engine::convert(const Array& from, const Array& to) {
    if (converts(from.element) && converts(to.element)) {
        const dnnl::memory source = wrap(vector_of(from.elements, from.element), from.memory.get());
        dnnl::memory target = wrap(vector_of(to.elements, to.element), to.memory.get());
        auto& primitive =
            cached<dnnl::reorder>("conversion", {from.elements, bytes_of(to.element)}, [&] { return dnnl::reorder(source, target); });
        primitive.execute(stream, {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}});
        return;
    }
    with_type(from.element, [&]<class From>() {
        with_type(to.element, [&]<class To>() {
            const From* x = from.as<From>();
            To* y = to.as<To>();
            for (std::int64_t i = 0; i < to.elements; ++i) y[i] = static_cast<float>(x[i]);
        });
    });
}

Array Scratch::array(std::int64_t count, Element element) {
    float* memory = reals((count * bytes_of(element) + bytes_of(Element::real) - 1) / bytes_of(Element::real));
    return {std::shared_ptr<void>(std::shared_ptr<void>(), memory), count, element};
}

float* Scratch::reals(std::int64_t count) {
    if (used_ == blocks_.size()) blocks_.emplace_back();
    std::vector<float>& block = blocks_[used_++];
    if (block.size() < static_cast<std::size_t>(count)) block.resize(static_cast<std::size_t>(count));
    return block.data();
}

Engine::Engine() : engine(dnnl::engine::kind::cpu, 0), stream(engine) {
    // oneDNN writes the code of its products when it computes the first, and crashes where it gets no memory for that. So that is done
    // here, after as much was asked for: a refusal can be told.
    constexpr std::size_t most_code = 32 << 20;
    (void)std::make_unique_for_overwrite<std::byte[]>(most_code);
    const Array one = scratch.array(1);
    const Matrix m(one, 1, 1);
    multiply_reals(m, m, m, 1, 0);
    stack_ = fastest_stack();
}

// How oneDNN and we were compiled decides which it is: a fraction of a millisecond tells.
std::uintptr_t Engine::fastest_stack() {
    constexpr std::int64_t count = 4096;
    constexpr int rounds = 5;
    scratch.reset();
    float* values = scratch.reals(count);
    std::fill_n(values, count, 0.5F);
    float* gradients = scratch.reals(count);
    std::array<std::chrono::steady_clock::duration, stack_places.size()> least;
    least.fill(std::chrono::steady_clock::duration::max());
    for (int round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < least.size(); ++i) {
            stack_ = stack_places[i];
            const auto begin = std::chrono::steady_clock::now();
            differentiate(Curve::gelu, values, values, gradients, count);
            least[i] = std::min(least[i], std::chrono::steady_clock::now() - begin);
        }
    return stack_places[static_cast<std::size_t>(std::ranges::min_element(least) - least.begin())];
}

dnnl::memory Engine::wrap(const dnnl::memory::desc& d, const void* data) const {
    return {d, engine, const_cast<void*>(data)};  // oneDNN does not say which of its arguments it only reads
}

void Engine::apply(Curve curve, const float* x, float* y, std::int64_t count) {
    const dnnl::memory::desc d = vector_of(count);
    auto& primitive = cached<dnnl::eltwise_forward>("curve", {static_cast<std::int64_t>(curve), count},
                                                    [&] { return dnnl::eltwise_forward(describe(engine, forward_algorithm(curve), d)); });
    primitive.execute(stream, {{DNNL_ARG_SRC, wrap(d, x)}, {DNNL_ARG_DST, wrap(d, y)}});
}

void Engine::differentiate(Curve curve, const float* kept, const float* dy, float* dx, std::int64_t count) {
    const dnnl::memory::desc d = vector_of(count);
    auto& primitive = cached<dnnl::eltwise_backward>("curve gradient", {static_cast<std::int64_t>(curve), count}, [&] {
        const auto forward = describe(engine, backward_algorithm(curve), d);
        return dnnl::eltwise_backward({{backward_algorithm(curve), d, d, swish_beta, 0}, engine, forward});
    });
    execute_on_stack(stack_, primitive, stream,
                     {{slope_needs_output(curve) ? DNNL_ARG_DST : DNNL_ARG_SRC, wrap(d, kept)},
                      {DNNL_ARG_DIFF_DST, wrap(d, dy)},
                      {DNNL_ARG_DIFF_SRC, wrap(d, dx)}});
}

}  // namespace sextant::cpu
