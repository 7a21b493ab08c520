// The functions of <cmath> by their names in std.
#pragma once
namespace std {
using ::abs; using ::fabs; using ::sqrt; using ::cbrt; using ::hypot; using ::pow; using ::exp; using ::exp2; using ::expm1;
using ::log; using ::log2; using ::log10; using ::log1p; using ::sin; using ::cos; using ::tan; using ::asin; using ::acos; using ::atan;
using ::atan2; using ::sinh; using ::cosh; using ::tanh; using ::asinh; using ::acosh; using ::atanh; using ::erf; using ::erfc;
using ::tgamma; using ::lgamma; using ::ceil; using ::floor; using ::trunc; using ::round; using ::lround; using ::llround; using ::rint;
using ::nearbyint; using ::fmod; using ::remainder; using ::fmin; using ::fmax; using ::fdim; using ::fma; using ::copysign;
using ::frexp; using ::ldexp; using ::modf; using ::isnan; using ::isinf; using ::isfinite; using ::signbit;
} // namespace std
