#include "backend/cpu/engine.hpp"

#include "model/base/ceil_divide.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <utility>

namespace sextant::cpu {
namespace {

dnnl::algorithm forward_algorithm(Curve c) {
    switch (c) {
        case Curve::gelu: return dnnl::algorithm::eltwise_gelu_erf;
        case Curve::silu: return dnnl::algorithm::eltwise_swish;
        case Curve::sigmoid: return dnnl::algorithm::eltwise_logistic;
        case Curve::tanh: return dnnl::algorithm::eltwise_tanh;
        case Curve::exp: break;
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

// What of a matrix a core's own cache has room for, beside what else a product touches.
std::int64_t rows_in_cache(const Matrix& m) {
    constexpr std::int64_t room = (256 << 10) / sizeof(float), least = 8;
    return std::max(least, room / m.columns / least * least);
}

// Reads it, as a processor drops hints to fetch where they are many.
void fetch_into_cache(const Matrix& m) {
    constexpr std::int64_t line = 64 / sizeof(float);
    for (std::int64_t r = 0; r < m.rows; ++r)
        for (std::int64_t c = 0; c < m.columns; c += line) (void)*static_cast<volatile const float*>(m.row<float>(r) + c);
}

// c = scale a b + keep c.
void multiply_at_once(const Matrix& a, const Matrix& b, const Matrix& c, float scale, float keep) {
    if (a.columns == 0) return;
    const auto status = dnnl::sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', c.rows, c.columns, a.columns, scale,
                                    a.row<float>(0), a.pitch, b.row<float>(0), b.pitch, keep, c.row<float>(0), c.pitch);
    dnnl::error::wrap_c_api(static_cast<dnnl_status_t>(status), "refused a product of matrices");
}

// The same, summed over so many rows of b at a time, of which `look` is told before.
template <class Look>
void multiply_by_steps(const Matrix& a, const Matrix& b, const Matrix& c, float scale, float keep, std::int64_t step, const Look& look) {
    for (std::int64_t k = 0; k < a.columns; k += step) {
        const std::int64_t count = std::min(step, a.columns - k);
        const Matrix part = b.some_rows(k, count);
        look(part);
        multiply_at_once(a.transpose().some_rows(k, count).transpose(), part, c, scale, k == 0 ? keep : 1);
    }
}

// The same, part of c by part, each fetched before.
void multiply_into_fetched_sums(const Matrix& a, const Matrix& b, const Matrix& c, float scale, float keep) {
    const std::int64_t rows = rows_in_cache(c);
    for (std::int64_t r = 0; r < c.rows; r += rows) {
        const std::int64_t count = std::min(rows, c.rows - r);
        const Matrix part = c.some_rows(r, count);
        fetch_into_cache(part);
        multiply_at_once(a.some_rows(r, count), b, part, scale, keep);
    }
}

// Elements of what memory holds transposed, handed on with row and column. By squares whose lines a core's first cache holds.
template <class Put>
void turn(const Matrix& m, const Put& put) {
    constexpr std::int64_t side = 16;
    for (std::int64_t c = 0; c < m.columns; c += side)
        for (std::int64_t r = 0; r < m.rows; r += side)
            for (std::int64_t i = r; i < std::min(m.rows, r + side); ++i)
                for (std::int64_t k = c; k < std::min(m.columns, c + side); ++k) put(i, k, m.row<float>(k)[i]);
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
    some.data += first * (transposed ? 1 : pitch) * bytes_of(element);
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

// Where oneDNN 2.6 goes over memory badly, it is given another product, or parts of it (times on a core of an EPYC, Zen 4):
// - Few rows times a matrix that lies transposed, as weights do: it turns all of that round, which takes longer than multiplying. As b^T
//   a^T, 32 rows at a time, both are read as they lie: 32 rows times 1024 x 1536 take 0.76 times as long, 16 rows 0.65 times.
// - Sums of few products, as gradients of weights are, and products of fewer rows yet: with AVX-512 it packs nothing then, and waits for
//   each line of what is large. Fetched first, sums of 32 take 0.75 times as long, 16 rows times 1024 x 1024 0.8 to 0.9 times. From 1024
//   columns on it packs sums only from some 100 products on.
// - Rows of a transposed matrix that are a multiple of 2 KiB apart fall into a few sets of a core's caches, and where the result is narrow
//   oneDNN does not pack them first. With AVX-512 no more rows are summed over at a time than the sets hold: so weight gradients of 1024 x
//   256 take 0.7 times as long (Xeon). Without it the matrix is transposed first: 0.68 times (EPYC).
void Engine::multiply_reals(const Matrix& a, const Matrix& b, const Matrix& c, float scale, float keep) {
    constexpr std::int64_t own_cache = (1 << 20) / sizeof(float), few_sets = 2048 / sizeof(float), packed_width = 1024;
    static const bool has_wide_vectors = has_isa(dnnl::cpu_isa::avx512_core);
    const bool narrow = c.columns < packed_width;
    if (!a.transposed && b.transposed && c.rows <= (b.rows * b.columns < own_cache ? 32 : 64)) return multiply_turned(a, b, c, scale, keep);
    if (has_wide_vectors && !b.transposed) {
        if (!a.transposed && c.rows <= 16) return multiply_by_steps(a, b, c, scale, keep, rows_in_cache(b), fetch_into_cache);
        if (a.transposed && keep != 0 && a.columns <= (narrow ? 32 : 96)) return multiply_into_fetched_sums(a, b, c, scale, keep);
    }
    const bool crowded = a.transposed && a.pitch % few_sets == 0 && narrow;
    if (!crowded) return multiply_at_once(a, b, c, scale, keep);
    constexpr std::int64_t rows_at_a_time = 192;
    if (has_wide_vectors) return multiply_by_steps(a, b, c, scale, keep, rows_at_a_time, [](const Matrix&) {});
    Matrix straight = a;
    straight.data = turned_memory(a.rows * a.columns);
    straight.pitch = a.columns;
    straight.transposed = false;
    turn(a, [&](std::int64_t i, std::int64_t k, float value) { straight.row<float>(i)[k] = value; });
    multiply_at_once(straight, b, c, scale, keep);
}

void Engine::multiply_turned(const Matrix& a, const Matrix& b, const Matrix& c, float scale, float keep) {
    constexpr std::int64_t rows = 32;
    for (std::int64_t r = 0; r < c.rows; r += rows) {
        const std::int64_t count = std::min(rows, c.rows - r);
        const Matrix some = c.some_rows(r, count);
        Matrix turned = some.transpose();
        turned.data = turned_memory(count * c.columns);
        turned.pitch = count;
        turned.transposed = false;
        multiply_at_once(b.transpose(), a.some_rows(r, count).transpose(), turned, scale, 0);
        turn(turned.transpose(), [&](std::int64_t i, std::int64_t k, float value) {
            float& sum = some.row<float>(i)[k];
            sum = keep == 0 ? value : keep * sum + value;
        });
    }
}

std::byte* Engine::turned_memory(std::int64_t elements) {
    if (std::ssize(turned_) < elements) turned_.resize(static_cast<std::size_t>(elements));
    return reinterpret_cast<std::byte*>(turned_.data());
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
    float* memory = reals(ceil_divide(count * bytes_of(element), bytes_of(Element::real)));
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
