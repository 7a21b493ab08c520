package gokernel

import (
	"fmt"
	"strings"
)

// clean makes a name of Go one of C++.
func clean(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "u%x", r)
		}
	}
	if b.Len() == 0 || b.String()[0] >= '0' && b.String()[0] <= '9' {
		return "x" + b.String()
	}
	for _, ours := range []string{"T_", "go_", "f_", "g_"} { // of types, of kernels, of functions and variables of the host
		if strings.HasPrefix(b.String(), ours) {
			return "x_" + b.String()
		}
	}
	return b.String()
}

// reserved are names that mean something in CUDA C++ or in what is put before the
// program.
var reserved = func() map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(`alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class compl
		concept const const_cast consteval constexpr constinit continue co_await co_return co_yield decltype default delete do double dynamic_cast else enum
		explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
		protected public register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this
		thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
		i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 go go_panics go_results go_last dim3 uint3 threadIdx blockIdx blockDim gridDim warpSize assert printf NULL INFINITY NAN
		half __half float2 float3 float4 double2 double3 double4 int2 int3 int4 uint2 uint4 linux unix std cuda stdin stdout stderr errno
		__global__ __device__ __shared__ __constant__ __host__ __restrict__ size_t clock_t`) {
		m[w] = true
	}
	return m
}()
