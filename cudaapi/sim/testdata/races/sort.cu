== bitonic 1 128
__global__ void KERNEL {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = a[t];
    for (int k = 2; k <= 128; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
//+            __syncthreads();
            int o = t ^ j;
            if (o > t && (s[t] > s[o]) == ((t & k) == 0)) { /*1*/
                int v = s[t];
                s[t] = s[o];
                s[o] = v; /*2*/
            }
//-            __syncwarp();
        }
    __syncthreads();
    c[t] = s[t];
}
== all-write-the-sentinel 1 64
__global__ void KERNEL {
    __shared__ int s[130];
    int t = threadIdx.x;
    s[2 * t] = a[2 * t];
    s[2 * t + 1] = a[2 * t + 1];
//+    if (t == 0)
    s[128] = s[129] = 1 << 30; /*12*/
    __syncthreads();
    c[t] = s[2 * t + 2];
}
== odd-even-phases 1 64
__global__ void KERNEL {
    __shared__ int s[129];
    int t = threadIdx.x;
    s[2 * t] = a[2 * t];
    s[2 * t + 1] = a[2 * t + 1];
    if (t == 0) s[128] = 1 << 30;
    __syncthreads();
    for (int k = 0; k < 8; k++) {
        int i = 2 * t + k % 2;
        int x = s[i], y = s[i + 1];
        s[i] = min(x, y); /*1*/
        s[i + 1] = max(x, y); /*2*/
//+        __syncthreads();
    }
    c[t] = s[t];
}
== rank-sort clean 1 64
__global__ void KERNEL {
    __shared__ int s[64];
    int t = threadIdx.x, r = 0;
    s[t] = a[t];
    __syncthreads();
    for (int i = 0; i < 64; i++) r += s[i] < s[t] || s[i] == s[t] && i < t;
    c[r] = s[t];
}
== rank-sort-ties 1 64
__global__ void KERNEL {
    __shared__ int s[64];
    int t = threadIdx.x, r = 0;
    s[t] = a[t] / 2;
    __syncthreads();
//+    for (int i = 0; i < 64; i++) r += s[i] < s[t] || s[i] == s[t] && i < t;
//-    for (int i = 0; i < 64; i++) r += s[i] < s[t];
    c[r] = t; /*12*/
}
== counting-sort 1 64
__global__ void KERNEL {
    __shared__ int count[16], at[16];
    int t = threadIdx.x, v = a[t] % 16;
    if (t < 16) count[t] = 0;
    __syncthreads();
    atomicAdd(&count[v], 1); /*1*/
//+    __syncthreads();
    if (t == 0) {
        int s = 0;
        for (int i = 0; i < 16; i++) { at[i] = s; s += count[i]; } /*2*/
    }
    __syncthreads();
    c[atomicAdd(&at[v], 1)] = t;
}
== scatter-plain-cursor 1 64
__global__ void KERNEL {
    __shared__ int at[4];
    int t = threadIdx.x, v = a[t] % 4;
    if (t < 4) at[t] = t * 32;
    __syncthreads();
//+    c[atomicAdd(&at[v], 1)] = t;
//-    c[at[v]++] = t; /*12*/
}
== split-by-bit 1 64
__global__ void KERNEL {
    __shared__ int flag[64], out[64];
    int t = threadIdx.x, v = a[t];
    for (int bit = 0; bit < 4; bit++) {
        flag[t] = v >> bit & 1;
        __syncthreads();
        int ones = 0, before = 0;
        for (int i = 0; i < 64; i++) { ones += flag[i]; if (i < t) before += flag[i]; }
        int to = flag[t] ? 64 - ones + before : t - before;
        out[to] = v; /*1*/
//+        __syncthreads();
        v = out[t]; /*2*/
        __syncthreads();
    }
    c[t] = v;
}
== merge-in-place 1 32
__global__ void KERNEL {
    int t = threadIdx.x;
    for (int w = 1; w < 64; w *= 2) {
        for (int i = t * 2 * w; i < 64; i += 64 * w)
//+            for (int k = 0; k < 2 * w; k++) c[i + k] = a[i + k];
//-            for (int k = 0; k < 2 * w + 1; k++) c[i + k] = a[i + k]; /*12*/
        __syncthreads();
    }
}
