// Text. Lines are text[off[i]] to text[off[i + 1] - 1].

typedef unsigned char byte;
typedef unsigned long long u64;
#define I int i = blockIdx.x * blockDim.x + threadIdx.x
#define LINE I; if (i >= n) return; const byte *s = text + off[i]; int len = off[i + 1] - off[i]

extern "C" __global__ void find(const byte *text, int n, const byte *what, int m, int *count, int *first) {
    I;
    if (i + m > n) return;
    for (int k = 0; k < m; k++)
        if (text[i + k] != what[k]) return;
    atomicAdd(count, 1);
    atomicMin(first, i);
}

// Diagonal by diagonal: one thread for each character of a.
extern "C" __global__ void edit_distance(const byte *a, const byte *b, int na, int nb, int *out) {
    extern __shared__ int s[];
    int t = threadIdx.x, width = na + 1;
    for (int d = 0; d <= na + nb; d++) {
        int *now = s + d % 3 * width, *before = s + (d + 2) % 3 * width, *earlier = s + (d + 1) % 3 * width, j = d - t;
        if (t <= na && j >= 0 && j <= nb) {
            int v = t + j;
            if (t && j) v = min(min(before[t - 1], before[t]) + 1, earlier[t - 1] + (a[t - 1] != b[j - 1]));
            now[t] = v;
            if (t == na && j == nb) *out = v;
        }
        __syncthreads();
    }
}

// One diagonal of the table of longest common subsequences.
extern "C" __global__ void common_diagonal(const byte *a, const byte *b, int *table, int na, int nb, int d) {
    I;
    int x = i + 1, y = d - i + 1, w = na + 1;
    if (x > na || y < 1 || y > nb) return;
    table[y * w + x] = a[x - 1] == b[y - 1] ? table[(y - 1) * w + x - 1] + 1 : max(table[(y - 1) * w + x], table[y * w + x - 1]);
}

extern "C" __global__ void fnv(const byte *text, const int *off, u64 *out, int n) {
    LINE;
    u64 h = 14695981039346656037ULL;
    for (int k = 0; k < len; k++) h = (h ^ s[k]) * 1099511628211ULL;
    out[i] = h;
}

__constant__ unsigned crc_table[256];

extern "C" __global__ void crc32(const byte *text, const int *off, unsigned *out, int n) {
    LINE;
    unsigned c = ~0u;
    while (len--) c = crc_table[(c ^ *s++) & 255] ^ c >> 8;
    out[i] = ~c;
}

extern "C" __global__ void adler32(const byte *text, const int *off, unsigned *out, int n) {
    LINE;
    unsigned a = 1, b = 0;
    for (int k = 0; k < len; k++) {
        a = (a + s[k]) % 65521;
        b = (b + a) % 65521;
    }
    out[i] = b << 16 | a;
}

__device__ unsigned turn(unsigned x, int r) { return x << r | x >> (32 - r); }

extern "C" __global__ void murmur3(const byte *text, const int *off, unsigned *out, int n) {
    LINE;
    unsigned h = 42;
    for (int k = 0; k < len; k += 4) {
        unsigned w = 0;
        for (int b = 0; b < 4 && k + b < len; b++) w |= s[k + b] << 8 * b;
        h ^= turn(w * 0xcc9e2d51u, 15) * 0x1b873593u;
        if (k + 4 <= len) h = turn(h, 13) * 5 + 0xe6546b64u;
    }
    h ^= len;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    out[i] = h ^ h >> 16;
}

__constant__ unsigned rounds[64];

// Of lines below 56 bytes.
extern "C" __global__ void sha256(const byte *text, const int *off, unsigned *out, int n) {
    LINE;
    unsigned w[64] = {}, h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, v[8];
    for (int k = 0; k <= len; k++) w[k / 4] |= (k < len ? s[k] : 0x80u) << (24 - k % 4 * 8);
    w[15] = 8 * len;
    for (int k = 16; k < 64; k++) {
        unsigned a = w[k - 15], b = w[k - 2];
        w[k] = w[k - 16] + (turn(a, 25) ^ turn(a, 14) ^ a >> 3) + w[k - 7] + (turn(b, 15) ^ turn(b, 13) ^ b >> 10);
    }
    for (int k = 0; k < 8; k++) v[k] = h[k];
    for (int k = 0; k < 64; k++) {
        unsigned e = v[4], a = v[0];
        unsigned t1 = v[7] + (turn(e, 26) ^ turn(e, 21) ^ turn(e, 7)) + ((e & v[5]) ^ (~e & v[6])) + rounds[k] + w[k];
        unsigned t2 = (turn(a, 30) ^ turn(a, 19) ^ turn(a, 10)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        for (int j = 7; j > 0; j--) v[j] = v[j - 1];
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int k = 0; k < 8; k++) out[8 * i + k] = h[k] + v[k];
}

__device__ bool letter(byte c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

extern "C" __global__ void count_words(const byte *text, int *count, int n) {
    I;
    bool starts = i < n && letter(text[i]) && (i == 0 || !letter(text[i - 1]));
    int votes = __syncthreads_count(starts);
    if (threadIdx.x == 0) atomicAdd(count, votes);
}

extern "C" __global__ void count_runes(const byte *text, int *count, int n) {
    I;
    unsigned votes = __ballot_sync(0xffffffff, i < n && (text[i] & 0xc0) != 0x80);
    if (threadIdx.x % 32 == 0) atomicAdd(count, __popc(votes));
}

extern "C" __global__ void base64(const byte *in, char *out, int n) {
    I;
    if (3 * i >= n) return;
    const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned v = in[3 * i] << 16;
    if (3 * i + 1 < n) v |= in[3 * i + 1] << 8;
    if (3 * i + 2 < n) v |= in[3 * i + 2];
    for (int k = 0; k < 4; k++) out[4 * i + k] = 3 * i + k - 1 < n ? digits[v >> (18 - 6 * k) & 63] : '=';
}

extern "C" __global__ void upper(uchar4 *text, int n) {
    I;
    if (i >= n) return;
    auto up = [](byte c) -> byte { return c >= 'a' && c <= 'z' ? c - 32 : c; };
    uchar4 v = text[i];
    text[i] = make_uchar4(up(v.x), up(v.y), up(v.z), up(v.w));
}

// A machine for numbers like -12.5e3: states by classes of characters.
extern "C" __global__ void numbers_in(const byte *text, const int *off, int *out, int n) {
    LINE;
    enum Class { Digit, Sign, Point, Exponent, Other };
    const signed char next[8][5] = {{2, 1, -1, -1, -1}, {2, -1, -1, -1, -1}, {2, -1, 3, 5, -1}, {4, -1, -1, -1, -1}, {4, -1, -1, 5, -1}, {7, 6, -1, -1, -1}, {7, -1, -1, -1, -1}, {7, -1, -1, -1, -1}};
    int state = 0;
    for (int k = 0; k < len && state >= 0; k++) {
        Class c = Other;
        switch (s[k]) {
        case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9': c = Digit; break;
        case '+': case '-': c = Sign; break;
        case '.': c = Point; break;
        case 'e': case 'E': c = Exponent;
        }
        state = next[state][c];
    }
    out[i] = state == 2 || state == 4 || state == 7;
}

// A table with open addressing: a key and a count in a word.
extern "C" __global__ void count_in_table(const unsigned *keys, u64 *table, int n, int size) {
    I;
    if (i >= n) return;
    for (unsigned slot = keys[i] * 0x9e3779b1u % size;; slot = (slot + 1) % size) {
        u64 old = table[slot];
        while (old == 0 || old >> 32 == keys[i]) {
            u64 seen = atomicCAS(&table[slot], old, ((u64)keys[i] << 32) | ((unsigned)old + 1));
            if (seen == old) return;
            old = seen;
        }
    }
}

extern "C" __global__ void look_up(const unsigned *keys, const u64 *table, int *out, int n, int size) {
    I;
    if (i >= n) return;
    unsigned slot = keys[i] * 0x9e3779b1u % size;
    while (table[slot] && table[slot] >> 32 != keys[i]) slot = (slot + 1) % size;
    out[i] = (int)table[slot];
}
