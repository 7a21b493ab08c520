// What the lanes of a warp do as one: products of matrices that they hold together, and
// their loads and stores. Who holds what is as the PTX manual has it for mma; of wmma, for
// which it says nothing, as ptxas of CUDA 12.9 has it for compute capability 9.0.
#pragma once

namespace gocuda {

// meet has the last lane that comes act for all. line and number are the instruction's.
template <class M> static GOCUDA_INLINE void meet(M &m, gocuda_u32 number, const char *name, gocuda_u32 line) {
    m.act = M::as_one, m.number = number, m.acted = 0;
    exchange(opTogether, ~0u, (gocuda_u64)(Meeting *)&m, metAt);
    if (!*(volatile gocuda_u32 *)&m.acted) fail(11, 0, 0, 0, name, line);
}
struct Here : Meeting {
    static GOCUDA_RAW void as_one(Meeting *const *) {}
};
static GOCUDA_INLINE void be_here(gocuda_u32 number, const char *name, gocuda_u32 line) {
    Here h;
    meet(h, number, name, line);
}

template <int m, int n, int k> struct Shape {
    static constexpr int M = m, N = n, K = k;
    static constexpr bool turned = M == 8 && N == 32; // of which the product of the transposed matrices is made
};
struct At {
    int row, column;
};
// wide is the place of an element of a register in a matrix whose rows come in sixteens, E elements
// of a row to a register; narrow in one whose rows come in eights. rows has what is held several times.
static GOCUDA_INLINE At wide(int rows, int k, int E, int lane, int reg, int e) {
    int each = 2 * (k / (4 * E)), q = reg % each;
    return {(reg / each * 16 + lane / 4 + 8 * (q & 1)) % rows, (q >> 1) * 4 * E + lane % 4 * E + e};
}
static GOCUDA_INLINE At narrow_at(int rows, int k, int E, int lane, int reg, int e) {
    int each = k / (4 * E);
    return {(reg / each * 8 + lane / 4) % rows, reg % each * 4 * E + lane % 4 * E + e};
}
template <class S> static GOCUDA_INLINE At place_a(int E, int lane, int reg, int e) {
    return S::M == 8 ? narrow_at(S::M, S::K, E, lane, reg, e) : wide(S::M, S::K, E, lane, reg, e);
}
// Of b it is that in the transposed matrix.
template <class S> static GOCUDA_INLINE At place_b(int E, int lane, int reg, int e) {
    return S::turned ? wide(S::N, S::K, E, lane, reg, e) : narrow_at(S::N, S::K, E, lane, reg, e);
}
template <class S> static GOCUDA_INLINE At place_c(int lane, int i) {
    int g = lane / 4, t = lane % 4 * 2 + (i & 1), j = i >> 1;
    if (S::turned) return {t, g + 8 * j};
    return {g + 8 * (j % (S::M / 8)), t + 8 * (j / (S::M / 8))};
}

// Formats of elements: bits, those of fraction and exponent.
template <int bits, int f, int e> struct Format {
    static constexpr int Bits = bits, F = f, E = e;
};
typedef Format<16, 10, 5> F16;
typedef Format<16, 7, 8> BF16;
typedef Format<32, 10, 8> TF32;
typedef Format<32, 23, 8> F32;
typedef Format<8, 3, 4> E4M3;
typedef Format<8, 2, 5> E5M2;
template <int bits, bool sign> struct Int {
    static constexpr int Bits = bits;
    static constexpr bool Sign = sign;
};
struct F64 {
    static constexpr int Bits = 64;
};

// Part is what a tensor core takes of a number: the fraction with its leading bit and the sign, and
// the exponent. That of 0 is -126 in each format.
struct Part {
    int sig, exp;
    bool finite;
};
template <class T> static GOCUDA_INLINE Part part_of(gocuda_u32 v) {
    if constexpr (T::Bits == 8) return part_of<F16>(half_of<T::E>(v));
    if constexpr (T::Bits == 32 && T::F == 10) v >>= 13;
    constexpr int bias = (1 << (T::E - 1)) - 1;
    int e = v >> T::F & ((1 << T::E) - 1), m = v & ((1 << T::F) - 1);
    bool negative = v >> (T::F + T::E) & 1;
    Part p = {m, e - bias, e != (1 << T::E) - 1};
    if (e) p.sig |= 1 << T::F;
    else p.exp = m ? 1 - bias : -126;
    if (negative) p.sig = -p.sig;
    return p;
}
template <class T> static GOCUDA_INLINE double number_of(gocuda_u32 v) {
    if constexpr (T::Bits == 8) return (double)widen<10, 5>(half_of<T::E>(v));
    else if constexpr (T::Bits == 16) return (double)widen<T::F, T::E>((unsigned short)v);
    else if constexpr (T::F == 10) return (double)bits_as<float>(v & ~0x1fffu);
    else return (double)bits_as<float>(v);
}

// Width is how many bits a load or store has.
template <int bits> struct Width;
template <> struct Width<8> { typedef gocuda_u8 Word; };
template <> struct Width<16> { typedef gocuda_u16 Word; };
template <> struct Width<32> { typedef gocuda_u32 Word; };
template <> struct Width<64> { typedef gocuda_u64 Word; };
template <bool first, class X, class Y> struct Choose { typedef X Type; };
template <class X, class Y> struct Choose<false, X, Y> { typedef Y Type; };

// ended is a sum of so many units of 2^unit, cut off to f32, or rounded to f16.
template <class D> static GOCUDA_INLINE gocuda_u32 ended(long sum, int unit) {
    if constexpr (D::Bits == 16) return narrow<10, 5>(__builtin_ldexp((double)sum, unit));
    if (sum == 0) return 0;
    gocuda_u64 m = sum < 0 ? 0 - (gocuda_u64)sum : (gocuda_u64)sum;
    gocuda_u32 sign = sum < 0 ? 1u << 31 : 0;
    int top = 63 - __builtin_clzl(m) + unit, last = (top < -126 ? -126 : top) - 23, by = last - unit;
    if (top > 127) return sign | 0x7f800000u;
    m = by >= 64 ? 0 : by >= 0 ? m >> by : m << -by;
    return sign | (top < -126 ? (gocuda_u32)m : (gocuda_u32)(top + 127) << 23 | ((gocuda_u32)m & 0x7fffff));
}

template <class T> struct Elements {
    typedef gocuda_u32 Word;
    static constexpr int E = T::Bits < 32 ? 32 / T::Bits : 1;
};
template <> struct Elements<F64> {
    typedef gocuda_u64 Word;
    static constexpr int E = 1;
};

// Product is d = a*b + c, made as How says.
template <class S, class TA, class TB, class TC, class TD, class How> struct Product : Meeting {
    typedef S Of;
    typedef TA A;
    typedef TB B;
    typedef TC C;
    typedef TD D;
    typedef typename Elements<A>::Word Word;
    static constexpr int E = Elements<A>::E, EC = Elements<C>::E, ED = Elements<D>::E;
    static constexpr int As = S::M * S::K / E / 32, Bs = S::N * S::K / E / 32, Cs = S::M * S::N / EC / 32, Ds = S::M * S::N / ED / 32;
    Word a[As], b[Bs], c[Cs], d[Ds];

    static GOCUDA_RAW void as_one(Meeting *const *lanes) { How::template product<Product>(lanes); }
    static GOCUDA_INLINE Word element(Word word, int e) {
        if constexpr (E == 1) return word;
        else return word >> (e * A::Bits) & ((1u << A::Bits) - 1);
    }
    // eachA calls to with row, k and element, eachB with column, k and element.
    template <class To> static GOCUDA_INLINE void eachA(Meeting *const *lanes, To to) {
        for (int l = 0; l < 32; l++)
            for (int r = 0; r < As; r++)
                for (int e = 0; e < E; e++) {
                    At at = place_a<S>(E, l, r, e);
                    to(at.row, at.column, element(static_cast<Product *>(lanes[l])->a[r], e));
                }
    }
    template <class To> static GOCUDA_INLINE void eachB(Meeting *const *lanes, To to) {
        for (int l = 0; l < 32; l++)
            for (int r = 0; r < Bs; r++)
                for (int e = 0; e < E; e++) {
                    At at = place_b<S>(E, l, r, e);
                    to(at.row, at.column, element(static_cast<Product *>(lanes[l])->b[r], e));
                }
    }
    // eachC has of make, which is given row, column and c, what d is.
    template <class Make> static GOCUDA_INLINE void eachC(Meeting *const *lanes, Make make) {
        for (int l = 0; l < 32; l++) {
            Product *p = static_cast<Product *>(lanes[l]);
            for (int i = 0; i < S::M * S::N / 32; i++) {
                At at = place_c<S>(l, i);
                Word c = p->c[i / EC];
                if constexpr (EC == 2) c = c >> (i % 2 * 16) & 0xffff;
                Word d = make(at.row, at.column, c);
                if constexpr (ED == 1) p->d[i] = d;
                else p->d[i / 2] = i % 2 ? p->d[i / 2] | d << 16 : d;
            }
        }
    }
};

// Fused is how tensor cores add up: products and the sum so far are aligned to the largest exponent,
// what is beyond so many bits of fraction is cut off, the rest is added exactly. So many terms come
// at once. Where they come in pairs, the first two of each four make the first sum, and c is added last.
template <int bits, int terms, bool pairs> struct Fused {
    template <class P> struct Operands {
        Part a[P::Of::M][P::Of::K], b[P::Of::N][P::Of::K];
        double x[P::Of::M][P::Of::K], y[P::Of::N][P::Of::K]; // of rows and columns that are not finite
        bool odd[P::Of::M], oddB[P::Of::N];
    };
    template <class P> static GOCUDA_RAW void product(Meeting *const *lanes) {
        Operands<P> f;
        for (bool &o : f.odd) o = false;
        for (bool &o : f.oddB) o = false;
        P::eachA(lanes, [&](int i, int k, gocuda_u32 v) GOCUDA_LAMBDA {
            f.a[i][k] = part_of<typename P::A>(v);
            if (!f.a[i][k].finite) f.odd[i] = true;
            f.x[i][k] = number_of<typename P::A>(v);
        });
        P::eachB(lanes, [&](int j, int k, gocuda_u32 v) GOCUDA_LAMBDA {
            f.b[j][k] = part_of<typename P::B>(v);
            if (!f.b[j][k].finite) f.oddB[j] = true;
            f.y[j][k] = number_of<typename P::B>(v);
        });
        P::eachC(lanes, [&](int i, int j, gocuda_u32 c) GOCUDA_LAMBDA { return element<P>(f, i, j, c); });
    }
    template <class P> static GOCUDA_RAW gocuda_u32 element(const Operands<P> &f, int i, int j, gocuda_u32 c) {
        typedef typename P::A A;
        typedef typename P::B B;
        constexpr bool halves = P::C::Bits == 16 && P::D::Bits == 16;
        typedef typename Choose<halves, F16, F32>::Type Sum;
        constexpr int fraction = A::Bits == 8 ? 20 : A::F + B::F;
        gocuda_u32 sum = c;
        if constexpr (P::C::Bits == 16 && !halves) sum = bits_as<gocuda_u32>(widen<10, 5>((unsigned short)c));
        if constexpr (pairs) sum = 0;
        for (int step = 0; step < P::Of::K / terms; step++) {
            auto at = [=](int n) GOCUDA_LAMBDA { return pairs ? n / 2 * 4 + n % 2 + 2 * step : step * terms + n; };
            Part before = part_of<Sum>(sum);
            if (f.odd[i] || f.oddB[j] || !before.finite) {
                double all = number_of<Sum>(sum);
                for (int n = 0; n < terms; n++) all += f.x[i][at(n)] * f.y[j][at(n)];
                if (all - all != 0) {
                    sum = Sum::Bits == 16 ? narrow<10, 5>(all) : bits_as<gocuda_u32>(canonical((float)all));
                    continue;
                }
            }
            int most = before.exp;
            for (int n = 0; n < terms; n++) {
                int e = f.a[i][at(n)].exp + f.b[j][at(n)].exp;
                most = e > most ? e : most;
            }
            long all = 0;
            auto add = [&](long sig, int e) GOCUDA_LAMBDA {
                int by = most - e < 63 ? most - e : 63;
                all += sig < 0 ? -(-sig >> by) : sig >> by;
            };
            add((long)before.sig * (1 << (bits - Sum::F)), before.exp);
            for (int n = 0; n < terms; n++) {
                const Part &x = f.a[i][at(n)], &y = f.b[j][at(n)];
                add((long)(x.sig * y.sig) * (1 << (bits - fraction)), x.exp + y.exp);
            }
            sum = ended<Sum>(all, most - bits);
        }
        if constexpr (pairs && halves) return Short<10, 5>::add((gocuda_u16)sum, (gocuda_u16)c);
        if constexpr (pairs) return bits_as<gocuda_u32>(canonical(bits_as<float>(sum) + bits_as<float>(c)));
        if constexpr (!halves && P::D::Bits == 16) return narrow<10, 5>((double)bits_as<float>(sum));
        return sum;
    }
};

// Chain adds numbers of 64 bits one after another, to the nearest or as To rounds.
template <class To = void> struct Chain {
    template <class P> static GOCUDA_RAW void product(Meeting *const *lanes) {
        double a[P::Of::M][P::Of::K], b[P::Of::N][P::Of::K];
        P::eachA(lanes, [&](int i, int k, gocuda_u64 v) GOCUDA_LAMBDA { a[i][k] = bits_as<double>(v); });
        P::eachB(lanes, [&](int j, int k, gocuda_u64 v) GOCUDA_LAMBDA { b[j][k] = bits_as<double>(v); });
        P::eachC(lanes, [&](int i, int j, gocuda_u64 c) GOCUDA_LAMBDA {
            double sum = bits_as<double>(c);
            for (int k = 0; k < P::Of::K; k++) {
                if constexpr (__is_same(To, void)) sum = fuse(a[i][k], b[j][k], sum);
                else sum = fused<To>(a[i][k], b[j][k], sum);
            }
            return bits_as<gocuda_u64>(sum);
        });
    }
};

// Whole is of integers: the sum is exact, then cut to 32 bits or to the nearest that there is.
template <bool saturates> struct Whole {
    template <class P> static GOCUDA_RAW void product(Meeting *const *lanes) {
        typedef typename P::A A;
        typedef typename P::B B;
        int a[P::Of::M][P::Of::K], b[P::Of::N][P::Of::K];
        P::eachA(lanes, [&](int i, int k, gocuda_u32 v) GOCUDA_LAMBDA { a[i][k] = (int)piece<A::Bits, A::Sign>(v, 0); });
        P::eachB(lanes, [&](int j, int k, gocuda_u32 v) GOCUDA_LAMBDA { b[j][k] = (int)piece<B::Bits, B::Sign>(v, 0); });
        P::eachC(lanes, [&](int i, int j, gocuda_u32 c) GOCUDA_LAMBDA {
            int sum = 0;
            for (int k = 0; k < P::Of::K; k++) sum += a[i][k] * b[j][k];
            long all = (long)sum + (int)c;
            return (gocuda_u32)(saturates ? bounded<32, true>(all) : all);
        });
    }
};

// Counted has the number of bits that two rows have in common, or in which they differ.
template <bool differ> struct Counted {
    template <class P> static GOCUDA_RAW void product(Meeting *const *lanes) {
        gocuda_u32 a[P::Of::M][P::Of::K / 32], b[P::Of::N][P::Of::K / 32];
        P::eachA(lanes, [&](int i, int k, gocuda_u32 v) GOCUDA_LAMBDA { a[i][k / 32] = k % 32 ? a[i][k / 32] | v << k % 32 : v; });
        P::eachB(lanes, [&](int j, int k, gocuda_u32 v) GOCUDA_LAMBDA { b[j][k / 32] = k % 32 ? b[j][k / 32] | v << k % 32 : v; });
        P::eachC(lanes, [&](int i, int j, gocuda_u32 c) GOCUDA_LAMBDA {
            for (int k = 0; k < P::Of::K / 32; k++) c += popc(differ ? a[i][k] ^ b[j][k] : a[i][k] & b[j][k]);
            return c;
        });
    }
};

// Transposed is movmatrix.
struct Transposed : Meeting {
    gocuda_u32 a, d;
    static GOCUDA_RAW void as_one(Meeting *const *lanes) {
        for (int l = 0; l < 32; l++) {
            auto half = [=](int row) GOCUDA_LAMBDA { return static_cast<Transposed *>(lanes[row * 4 + l / 8])->a >> (l / 4 % 2 * 16) & 0xffff; };
            static_cast<Transposed *>(lanes[l])->d = half(l % 4 * 2) | half(l % 4 * 2 + 1) << 16;
        }
    }
};

// Rows are where the rows of n matrices of 8 by 8 numbers of 16 bits lie, which the lanes name one each.
// piece calls to with the lane's part of each: its two numbers' places.
template <int n, bool transposed> struct Rows : Meeting {
    gocuda_u64 at, rows[n][2];
    static GOCUDA_RAW void as_one(Meeting *const *lanes) {
        for (int l = 0; l < 32; l++)
            for (int m = 0; m < n; m++)
                for (int half = 0; half < 2; half++) {
                    int row = transposed ? l % 4 * 2 + half : l / 4, column = transposed ? l / 4 : l % 4 * 2 + half;
                    static_cast<Rows *>(lanes[l])->rows[m][half] = static_cast<Rows *>(lanes[m * 8 + row])->at + column * 2;
                }
    }
};
// load and store are of the cell's own line; both are given an address, and how many bits.
template <int n, bool transposed, class Load>
static GOCUDA_INLINE void load_matrices(gocuda_u32 *d, gocuda_u64 at, Load load, gocuda_u32 number, const char *name, gocuda_u32 line) {
    Rows<n, transposed> r;
    r.at = at;
    meet(r, number, name, line);
    for (int m = 0; m < n; m++) d[m] = transposed ? load(r.rows[m][0], Width<16>()) | load(r.rows[m][1], Width<16>()) << 16 : load(r.rows[m][0], Width<32>());
    be_here(number, name, line);
}
template <int n, bool transposed, class Store>
static GOCUDA_INLINE void store_matrices(const gocuda_u32 *v, gocuda_u64 at, Store store, gocuda_u32 number, const char *name, gocuda_u32 line) {
    Rows<n, transposed> r;
    r.at = at;
    meet(r, number, name, line);
    for (int m = 0; m < n; m++) {
        if (transposed) store(r.rows[m][0], Width<16>(), v[m]), store(r.rows[m][1], Width<16>(), v[m] >> 16);
        else store(r.rows[m][0], Width<32>(), v[m]);
    }
    be_here(number, name, line);
}

// Which of a product's matrices a fragment is of.
enum Which { ofA, ofB, ofC };
template <class S, Which w> static GOCUDA_INLINE At place(int E, int lane, int reg, int e) {
    if (w == ofA) return place_a<S>(E, lane, reg, e);
    if (w == ofC) return place_c<S>(lane, reg * E + e);
    At at = place_b<S>(E, lane, reg, e);
    return {at.column, at.row};
}
// load_fragment loads a lane's registers of a matrix whose rows, or columns, begin ld elements apart.
template <class S, Which w, class T, bool rows, int n, class Load>
static GOCUDA_INLINE void load_fragment(typename Elements<T>::Word *d, gocuda_u64 from, gocuda_u32 ld, Load load, gocuda_u32 number, const char *name, gocuda_u32 line) {
    constexpr int E = Elements<T>::E;
    int l = (int)lane();
    be_here(number, name, line);
    auto bit = [=](int r, int e) GOCUDA_LAMBDA {
        At at = place<S, w>(E, l, r, e);
        return (rows ? (gocuda_u64)at.row * ld + at.column : (gocuda_u64)at.column * ld + at.row) * T::Bits;
    };
    for (int r = 0; r < n; r++) {
        if constexpr (E == 1) d[r] = load(from + bit(r, 0) / 8, Width<T::Bits>());
        else if (bit(r, 1) == bit(r, 0) + T::Bits) d[r] = load(from + bit(r, 0) / 8, Width<32>());
        else if constexpr (T::Bits >= 8) {
            d[r] = 0;
            for (int e = 0; e < E; e++) d[r] |= (gocuda_u32)load(from + bit(r, e) / 8, Width<T::Bits>()) << (e * T::Bits);
        }
    }
    be_here(number, name, line);
}
template <class S, class T, bool rows, int n, class Store>
static GOCUDA_INLINE void store_fragment(const typename Elements<T>::Word *v, gocuda_u64 to, gocuda_u32 ld, Store store, gocuda_u32 number, const char *name, gocuda_u32 line) {
    constexpr int E = Elements<T>::E;
    int l = (int)lane();
    be_here(number, name, line);
    for (int r = 0; r < n; r++)
        for (int e = 0; e < E; e++) {
            At at = place_c<S>(l, r * E + e);
            gocuda_u64 index = rows ? (gocuda_u64)at.row * ld + at.column : (gocuda_u64)at.column * ld + at.row;
            store(to + index * T::Bits / 8, Width<T::Bits>(), v[r] >> (E > 1 ? e * T::Bits : 0));
        }
    be_here(number, name, line);
}

} // namespace gocuda
