// The half precisions are reckoned in as float, as a GPU without instructions
// of its own for them would.
struct Half {
	unsigned short bits;
	__device__ Half() {}
	__device__ Half(float v) {
		unsigned x = __float_as_uint(v), sign = x >> 16 & 0x8000;
		x &= 0x7fffffff;
		if (x > 0x7f800000) bits = sign | 0x7e00 | (x >> 13 & 0x3ff);
		else if (x >= 0x477ff000) bits = sign | 0x7c00;
		else if (x < 0x38800000) bits = sign | (__float_as_uint(__uint_as_float(x) + 0.5f) - 0x3f000000); // the sum rounds to a half's least unit
		else bits = sign | ((x - 0x38000000 + 0xfff + (x >> 13 & 1)) >> 13);
	}
	__device__ operator float() const {
		unsigned sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
		if (exponent == 31) return __uint_as_float(sign | 0x7f800000 | fraction << 13);
		if (exponent == 0) return (sign ? -1.0f : 1.0f) * fraction * 5.9604644775390625e-8f;
		return __uint_as_float(sign | (exponent + 112) << 23 | fraction << 13);
	}
};

struct BFloat {
	unsigned short bits;
	__device__ BFloat() {}
	__device__ BFloat(float v) {
		unsigned x = __float_as_uint(v);
		bits = (x & 0x7fffffff) > 0x7f800000 ? x >> 16 | 0x40 : (x + 0x7fff + (x >> 16 & 1)) >> 16;
	}
	__device__ operator float() const { return __uint_as_float((unsigned)bits << 16); }
};

template <class R> struct Complex {
	R re, im;
	__device__ Complex operator+(Complex o) const { return {re + o.re, im + o.im}; }
	__device__ Complex operator*(Complex o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
};

// What a type can do: 1 sums and products, 2 also order and truth, 3 also bits.
template <class T> struct Can { static const int level = 3; };
template <> struct Can<float> { static const int level = 2; };
template <> struct Can<double> { static const int level = 2; };
template <> struct Can<Half> { static const int level = 2; };
template <> struct Can<BFloat> { static const int level = 2; };
template <class R> struct Can<Complex<R>> { static const int level = 1; };

// The operators, by their numbers in package cuda.
template <class T, int op> __device__ T apply(T a, T b) {
	if constexpr (op == 1) return T(a + b);
	if constexpr (op == 2) return T(a * b);
	if constexpr (Can<T>::level > 1) {
		if constexpr (op == 3) return b < a || b != b ? b : a; // a NaN wins
		if constexpr (op == 4) return b > a || b != b ? b : a;
		if constexpr (op == 5) return T(a != T(0) && b != T(0));
		if constexpr (op == 6) return T(a != T(0) || b != T(0));
		if constexpr (op == 7) return T((a != T(0)) != (b != T(0)));
	}
	if constexpr (Can<T>::level > 2) {
		if constexpr (op == 8) return T(a & b);
		if constexpr (op == 9) return T(a | b);
		if constexpr (op == 10) return T(a ^ b);
	}
	return a;
}

template <class T> struct alignas(16) Pack { T v[16 / sizeof(T)]; };
