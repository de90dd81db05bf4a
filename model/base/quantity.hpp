// Physical quantities whose unit is part of the type.
//
// A Quantity is entered with a unit and left by dividing by one:
//
//     const Bandwidth hbm = 3.35 * TB / s;
//     const Seconds t = 80 * GB / hbm;
//     std::printf("%.1f ms\n", t / ms);          // dividing like by like gives a double
//
// Five dimensions are tracked: bytes, floating-point operations, seconds, joules and money (US dollars).
// Values are held in SI units as double: integers of bytes are exact up to 2^53 (9 PB).
// GB is 1e9 bytes, GiB is 2^30. A count of operations is `Flops`, a rate is `FlopRate`.
#pragma once

#include <cmath>
#include <compare>

namespace sextant {

template <int ByteExp, int FlopExp, int SecondExp, int JouleExp = 0, int MoneyExp = 0>
class Quantity {
public:
    constexpr Quantity() = default;

    // The only door for a bare number: the value in SI units. For readers, writers and unit definitions.
    static constexpr Quantity from_si(double value) {
        Quantity q;
        q.si_ = value;
        return q;
    }
    [[nodiscard]] constexpr double si() const { return si_; }

    constexpr Quantity operator-() const { return from_si(-si_); }
    constexpr Quantity& operator+=(Quantity o) {
        si_ += o.si_;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity o) {
        si_ -= o.si_;
        return *this;
    }
    constexpr Quantity& operator*=(double f) {
        si_ *= f;
        return *this;
    }
    constexpr Quantity& operator/=(double f) {
        si_ /= f;
        return *this;
    }
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return from_si(a.si_ + b.si_); }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return from_si(a.si_ - b.si_); }
    friend constexpr Quantity operator*(Quantity a, double f) { return from_si(a.si_ * f); }
    friend constexpr Quantity operator*(double f, Quantity a) { return from_si(a.si_ * f); }
    friend constexpr Quantity operator/(Quantity a, double f) { return from_si(a.si_ / f); }
    friend constexpr auto operator<=>(Quantity, Quantity) = default;
    // What follows from that, said at once: a compiler makes one comparison of it, not three.
    friend constexpr bool operator<(Quantity a, Quantity b) { return a.si_ < b.si_; }
    friend constexpr bool operator>(Quantity a, Quantity b) { return a.si_ > b.si_; }
    friend constexpr bool operator<=(Quantity a, Quantity b) { return a.si_ <= b.si_; }
    friend constexpr bool operator>=(Quantity a, Quantity b) { return a.si_ >= b.si_; }

private:
    double si_ = 0;
};

template <int B1, int F1, int S1, int J1, int M1, int B2, int F2, int S2, int J2, int M2>
constexpr auto operator*(Quantity<B1, F1, S1, J1, M1> a, Quantity<B2, F2, S2, J2, M2> b) {
    return Quantity<B1 + B2, F1 + F2, S1 + S2, J1 + J2, M1 + M2>::from_si(a.si() * b.si());
}

// Like divided by like is a plain number; anything else keeps its dimension.
template <int B1, int F1, int S1, int J1, int M1, int B2, int F2, int S2, int J2, int M2>
constexpr auto operator/(Quantity<B1, F1, S1, J1, M1> a, Quantity<B2, F2, S2, J2, M2> b) {
    if constexpr (B1 == B2 && F1 == F2 && S1 == S2 && J1 == J2 && M1 == M2)
        return a.si() / b.si();
    else
        return Quantity<B1 - B2, F1 - F2, S1 - S2, J1 - J2, M1 - M2>::from_si(a.si() / b.si());
}

template <int B, int F, int S, int J, int M>
constexpr auto operator/(double a, Quantity<B, F, S, J, M> b) {
    return Quantity<-B, -F, -S, -J, -M>::from_si(a / b.si());
}

template <int B, int F, int S, int J, int M>
constexpr Quantity<B, F, S, J, M> max(Quantity<B, F, S, J, M> a, Quantity<B, F, S, J, M> b) {
    return a < b ? b : a;
}
template <int B, int F, int S, int J, int M>
constexpr Quantity<B, F, S, J, M> min(Quantity<B, F, S, J, M> a, Quantity<B, F, S, J, M> b) {
    return b < a ? b : a;
}

using Bytes = Quantity<1, 0, 0>;
using Flops = Quantity<0, 1, 0>;
using Seconds = Quantity<0, 0, 1>;
using Bandwidth = Quantity<1, 0, -1>;
using FlopRate = Quantity<0, 1, -1>;
using Frequency = Quantity<0, 0, -1>;  // also: operations, samples or tokens per second
using Joules = Quantity<0, 0, 0, 1>;
using Watts = Quantity<0, 0, -1, 1>;
using Money = Quantity<0, 0, 0, 0, 1>;
using MoneyRate = Quantity<0, 0, -1, 0, 1>;

namespace units {

inline constexpr Bytes B = Bytes::from_si(1);
inline constexpr Bytes KB = 1e3 * B, MB = 1e6 * B, GB = 1e9 * B, TB = 1e12 * B;
inline constexpr Bytes KiB = 1024 * B, MiB = 1024 * KiB, GiB = 1024 * MiB;
inline constexpr Bytes bit = 0.125 * B;
inline constexpr Bytes Gbit = 1e9 * bit;

inline constexpr Seconds s = Seconds::from_si(1);
inline constexpr Seconds ms = 1e-3 * s, us = 1e-6 * s, ns = 1e-9 * s;
inline constexpr Seconds minute = 60 * s, hour = 3600 * s, day = 24 * hour;
inline constexpr Frequency Hz = 1.0 / s;
inline constexpr Frequency MHz = 1e6 * Hz, GHz = 1e9 * Hz;

inline constexpr Flops FLOP = Flops::from_si(1);
inline constexpr Flops GFLOP = 1e9 * FLOP, TFLOP = 1e12 * FLOP;

inline constexpr Joules J = Joules::from_si(1);
inline constexpr Watts W = J / s;
inline constexpr Joules kWh = 1000 * W * hour;
inline constexpr Money USD = Money::from_si(1);

}  // namespace units
}  // namespace sextant
