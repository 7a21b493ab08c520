// Textures and surfaces: what the instructions tex, tld4, suld and sust do. The arithmetic is
// that of the appendix "Texture Fetching" of the CUDA C++ Programming Guide: coordinates are
// numbers of 32 bits, weights of linear filtering have 8 bits after the point. Where the guide
// is silent, this is what an H200 was seen to do (how weights are rounded, that a filter of 8 or
// 16 bits gives numbers of 16), or a choice (which side of a cube has its edges).
#pragma once

namespace gocuda {

// Texture is an object of a launch's table (objects.go has the same layout).
struct Texture {
    gocuda_u64 handle;
    gocuda_u64 base, pitch, slice;
    gocuda_u32 width, height, depth;
    gocuda_u32 format, channels, flags, filter, address[3];
    float border[4];
    gocuda_u64 unused[5];
};
static_assert(sizeof(Texture) == 128);

enum {
    objectLayered = 1, objectCube = 4, objectGather = 8, // of its array
    objectSurface = 1 << 8, objectMemory = 1 << 9,
    objectIntegers = 1 << 12, objectNormalized = 2 << 12,
    addressWrap = 0, addressClamp = 1, addressMirror = 2, addressBorder = 3,
};

static GOCUDA_RAW gocuda_u32 dimensions(const Texture *t) { return t->flags >> 4 & 3; }

// object finds the texture or surface of a number, which has the dimensions that an instruction
// asks for; null where there is none.
static GOCUDA_RAW const Texture *object(gocuda_u64 handle, gocuda_u32 surface, gocuda_u32 shape, gocuda_u32 line) {
    Launch *l = self()->worker->launch;
    const Texture *t = (const Texture *)l->textures + (handle & 0xffff);
    const char *wrong = nullptr;
    if (!l->textures || handle >> 48 != 0x7e87 || t->handle != handle) {
        wrong = surface ? "the kernel was given a number that is no surface object, or of one that was destroyed"
                        : "the kernel was given a number that is no texture object, or of one that was destroyed";
    } else if ((t->flags & objectSurface ? 1u : 0u) != surface) {
        wrong = surface ? "a surface function was given a texture object" : "a texture function was given a surface object";
    } else {
        // A surface's faces are layers to surface functions.
        gocuda_u32 has = dimensions(t) | (t->flags & objectLayered ? shapeLayered : 0) | (t->flags & objectCube ? shapeCube : 0);
        if (surface && has & shapeCube) has = (has | shapeLayered) & ~(gocuda_u32)shapeCube;
        gocuda_u64 o = t->base - l->base;
        if (has != shape)
            wrong = surface ? "a surface function is of other dimensions, or another kind of layers, than its surface's array"
                            : "a texture function is of other dimensions, or another kind of layers, than its texture";
        else if (o >= l->size || !l->valid[o >> 9] || !l->reachable[o >> l->shift])
            wrong = surface ? "the memory of a surface was freed, or is another device's" : "the memory of a texture was freed, or is another device's";
    }
    if (!wrong) return t;
    fail(10, handle, 0, surface, wrong, line);
    return nullptr;
}

static GOCUDA_RAW gocuda_u64 element(const Texture *t) {
    gocuda_u32 f = t->format;
    return (f == 0x01 || f == 0x08 ? 1 : f == 0x02 || f == 0x09 || f == 0x10 ? 2 : 4) * t->channels;
}

static GOCUDA_RAW float of_bits(gocuda_u32 v) {
    float f;
    __builtin_memcpy(&f, &v, 4);
    return f;
}

static GOCUDA_RAW gocuda_u32 bits_of(float f) {
    gocuda_u32 v;
    __builtin_memcpy(&v, &f, 4);
    return v;
}

// of_half is a number of 16 bits as one of 32.
static GOCUDA_RAW float of_half(gocuda_u32 h) {
    gocuda_u32 sign = (h & 0x8000) << 16, e = h >> 10 & 31, f = h & 1023;
    if (e == 31) return of_bits(sign | 0x7f800000 | f << 13);
    if (e) return of_bits(sign | (e + 112) << 23 | f << 13);
    float v = (float)f * 0x1p-24f;
    return sign ? -v : v;
}

// whole reports whether a texture gives integers.
static GOCUDA_RAW bool whole(const Texture *t) {
    gocuda_u32 f = t->format;
    return f == 0x03 || f == 0x0a || (f < 0x10 && t->flags & objectIntegers);
}

// texel reads an element: integers, or the bits of floats.
static GOCUDA_RAW void texel(const Texture *t, long x, long y, long z, gocuda_u32 *out) {
    const char *at = (const char *)t->base + z * t->slice + y * t->pitch + x * element(t);
    bool integers = whole(t);
    out[0] = out[1] = out[2] = out[3] = 0;
    for (gocuda_u32 i = 0; i < t->channels; i++) {
        switch (t->format) {
        case 0x01: {
            gocuda_u8 v = ((const gocuda_u8 *)at)[i];
            out[i] = integers ? v : bits_of((float)v / 255);
            break;
        }
        case 0x08: {
            signed char v = ((const signed char *)at)[i];
            out[i] = integers ? (gocuda_u32)v : bits_of(v == -128 ? -1.0f : (float)v / 127);
            break;
        }
        case 0x02: {
            gocuda_u16 v = ((const gocuda_u16 *)at)[i];
            out[i] = integers ? v : bits_of((float)v / 65535);
            break;
        }
        case 0x09: {
            short v = ((const short *)at)[i];
            out[i] = integers ? (gocuda_u32)v : bits_of(v == -32768 ? -1.0f : (float)v / 32767);
            break;
        }
        case 0x10:
            out[i] = bits_of(of_half(((const gocuda_u16 *)at)[i]));
            break;
        default:
            out[i] = ((const gocuda_u32 *)at)[i];
        }
    }
}

// Axis is where a coordinate leads: between two elements, with a weight of the second in 256ths.
struct Axis {
    long at[2];
    gocuda_u32 weight;
};

// fold brings the number of an element into 0 to n-1; -1 stands for the border.
static GOCUDA_RAW long fold(long i, long n, gocuda_u32 mode) {
    if (i >= 0 && i < n) return i;
    if (mode == addressBorder) return -1;
    if (mode == addressWrap) return (i % n + n) % n;
    if (mode == addressMirror) {
        i = (i % (2 * n) + 2 * n) % (2 * n);
        return i < n ? i : 2 * n - 1 - i;
    }
    return i < 0 ? 0 : n - 1;
}

static GOCUDA_RAW long floor_of(double v) {
    long k = (long)v;
    return k > v ? k - 1 : k;
}

static GOCUDA_RAW Axis along(const Texture *t, int axis, float x, gocuda_u32 n, bool linear, bool normalized) {
    gocuda_u32 mode = t->address[axis];
    bool turns = normalized && (mode == addressWrap || mode == addressMirror);
    double c = x == x && !(turns && x - x != 0) ? x : 0;
    if (turns && (c < -0x1p40 || c > 0x1p40)) c = 0; // an even number
    if (normalized) {
        if (c > -0x1p40 && c < 0x1p40) c = (double)floor_of(c * 0x1p21) * 0x1p-21;
        if (turns) c -= 2 * (double)floor_of(c / 2);
        c *= n;
    } else if (mode != addressBorder) {
        mode = addressClamp; // the others need coordinates from 0 to 1
    }
    c = c < -0x1p30 ? -0x1p30 : c > 0x1p30 ? 0x1p30 : c;
    Axis a;
    a.weight = 0;
    if (linear) {
        long k = floor_of(c * 256 + 0.5) - 128;
        a.at[0] = k >> 8;
        bool between = mode != addressClamp || (a.at[0] >= 0 && a.at[0] < (long)n - 1);
        a.weight = between ? (gocuda_u32)(k & 255) : 0;
    } else {
        a.at[0] = floor_of(c);
    }
    a.at[1] = fold(a.at[0] + 1, n, mode);
    a.at[0] = fold(a.at[0], n, mode);
    return a;
}

// fetched reads an element, or the border.
static GOCUDA_RAW void fetched(const Texture *t, long x, long y, long z, gocuda_u32 *out) {
    if (x >= 0 && y >= 0 && z >= 0) return texel(t, x, y, z, out);
    for (int i = 0; i < 4; i++) out[i] = (gocuda_u32)i < t->channels ? bits_of(t->border[i]) : 0;
}

// nearest is the integer next to a number, the upper one of two.
static GOCUDA_RAW double nearest(double v) { return (double)floor_of(v + 0.5); }

// wide is a number of an element as filters take it: normalized ones as integers.
static GOCUDA_RAW double wide(const Texture *t, gocuda_u32 bits) {
    double v = of_bits(bits);
    if (whole(t)) return v;
    switch (t->format) {
    case 0x01:
    case 0x02:
        return nearest(v * 65535);
    case 0x08:
        return nearest(v * 127);
    case 0x09:
        return nearest(v * 32767);
    }
    return v;
}

// rounded to so many bits, the larger one of two.
static GOCUDA_RAW double to_bits(double v, int bits) {
    gocuda_u64 b, unit = 1ul << (53 - bits);
    __builtin_memcpy(&b, &v, 8);
    b = (b + unit / 2) & -unit;
    __builtin_memcpy(&v, &b, 8);
    return v;
}

// narrowed is a number of an element's format, as the bits of a float.
static GOCUDA_RAW gocuda_u32 narrowed(const Texture *t, double v) {
    double size = v < 0 ? -v : v;
    if (!(size <= 0x1p200)) return bits_of((float)v);
    switch (t->format) {
    case 0x01:
    case 0x02:
        return bits_of((float)nearest(v) / 65535);
    case 0x08:
        v = v * 32767 / 127;
        return bits_of((float)nearest(v) / 32767);
    case 0x09:
        return bits_of((float)nearest(v) / 32767);
    case 0x10:
        if (size >= 0x1p-14) return bits_of((float)to_bits(v, 11));
        size = nearest(size * 0x1p24) * 0x1p-24;
        return bits_of((float)(v < 0 ? -size : size));
    }
    return bits_of(size >= 0x1p-126 ? (float)to_bits(v, 24) : (float)v);
}

// shares are the weights of eight elements in 256ths, from those of the axes.
static GOCUDA_RAW long share(long weight, long of) { return (weight * of + 128) >> 8; }
static GOCUDA_RAW void shares(const Axis *axes, long *w) {
    long a = axes[0].weight, b = axes[1].weight, c = axes[2].weight;
    for (int z = 0; z < 2; z++) {
        long plane = z ? c : 256 - c, second = share(plane, a), first = plane - second, *of = w + 4 * z;
        of[0] = share(first, 256 - b), of[2] = first - of[0];
        of[3] = share(second, b), of[1] = second - of[3];
    }
}

// face turns a direction into a face of a cube and coordinates on it.
static GOCUDA_RAW long face(float *at) {
    float x = at[0], y = at[1], z = at[2], ax = x < 0 ? -x : x, ay = y < 0 ? -y : y, az = z < 0 ? -z : z, m, s, v;
    long f;
    if (az >= ax && az >= ay) f = z < 0 ? 5 : 4, m = az, s = z < 0 ? -x : x, v = -y;
    else if (ay >= ax) f = y < 0 ? 3 : 2, m = ay, s = x, v = y < 0 ? -z : z;
    else f = x < 0 ? 1 : 0, m = ax, s = x < 0 ? z : -z, v = -y;
    at[0] = (s / m + 1) / 2;
    at[1] = (v / m + 1) / 2;
    return f;
}

GOCUDA_CALL void texture_at(gocuda_u64 handle, gocuda_u32 shape, gocuda_u32 layer, const float *where, gocuda_u32 *out, gocuda_u32 line) {
    out[0] = out[1] = out[2] = out[3] = 0;
    const Texture *t = object(handle, 0, shape, line);
    if (!t) return;
    float at[3] = {where[0], where[1], where[2]};
    bool linear = t->filter == 1, normalized = t->flags & objectNormalized;
    long z = 0, layers = t->depth;
    if (t->flags & objectCube) {
        layers /= 6;
        z = face(at);
        normalized = true;
    }
    if (t->flags & objectLayered) z += (layer < layers ? layer : layers - 1) * (t->flags & objectCube ? 6 : 1);
    Axis a[3] = {{{0, 0}, 0}, {{0, 0}, 0}, {{z, z}, 0}};
    gocuda_u32 n[3] = {t->width, t->height, t->depth};
    for (gocuda_u32 i = 0; i < dimensions(t); i++) a[i] = along(t, i, at[i], n[i], linear, normalized);
    if (!linear) return fetched(t, a[0].at[0], a[1].at[0], a[2].at[0], out);
    if (dimensions(t) == 1 && !(t->flags & objectLayered) && t->address[1] == addressBorder)
        a[1] = along(t, 1, 0, 1, true, false); // a GPU has one row there, between two
    long w[8];
    shares(a, w);
    double sum[4] = {};
    for (gocuda_u32 k = 0; k < 8; k++) {
        if (w[k] == 0) continue;
        gocuda_u32 e[4];
        fetched(t, a[0].at[k & 1], a[1].at[k >> 1 & 1], a[2].at[k >> 2 & 1], e);
        for (gocuda_u32 c = 0; c < t->channels; c++) sum[c] += (double)w[k] * wide(t, e[c]);
    }
    for (gocuda_u32 c = 0; c < t->channels; c++) out[c] = narrowed(t, sum[c] / 256);
}

GOCUDA_CALL void texture_element(gocuda_u64 handle, gocuda_u32 shape, gocuda_u32 layer, const int *where, gocuda_u32 *out, gocuda_u32 line) {
    out[0] = out[1] = out[2] = out[3] = 0;
    const Texture *t = object(handle, 0, shape, line);
    if (!t) return;
    gocuda_u32 n[3] = {t->width, t->height, t->depth};
    long at[3] = {0, 0, 0};
    if (t->flags & objectLayered) at[2] = layer < t->depth ? layer : t->depth - 1;
    for (gocuda_u32 i = 0; i < dimensions(t); i++) {
        at[i] = where[i];
        if (at[i] >= 0 && at[i] < n[i]) continue;
        if (t->flags & objectMemory && dimensions(t) == 1) return; // beside linear memory there is 0
        at[i] = fold(at[i], n[i], t->address[i] == addressBorder ? addressBorder : addressClamp);
    }
    fetched(t, at[0], at[1], at[2], out);
}

GOCUDA_CALL void texture_gather(gocuda_u64 handle, gocuda_u32 shape, gocuda_u32 layer, const float *where, gocuda_u32 channel, gocuda_u32 *out, gocuda_u32 line) {
    out[0] = out[1] = out[2] = out[3] = 0;
    const Texture *t = object(handle, 0, shape, line);
    if (!t) return;
    if (!(t->flags & objectGather)) {
        fail(10, handle, 0, 0, "tex2Dgather reads an array that was made without CUDA_ARRAY3D_TEXTURE_GATHER (ArrayDesc.Gather)", line);
        return;
    }
    bool normalized = t->flags & objectNormalized;
    Axis x = along(t, 0, where[0], t->width, true, normalized), y = along(t, 1, where[1], t->height, true, normalized);
    const int order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    for (int k = 0; k < 4; k++) {
        gocuda_u32 e[4];
        fetched(t, x.at[order[k][0]], y.at[order[k][1]], 0, e);
        out[k] = t->format == 0x08 && !whole(t) && channel < t->channels ? narrowed(t, wide(t, e[channel])) : e[channel];
    }
}

// placed finds where n bytes of a surface lie; null where there are none, and nothing is to be done.
static GOCUDA_RAW char *placed(gocuda_u64 handle, gocuda_u32 shape, const int *where, gocuda_u32 n, gocuda_u32 mode, bool write, gocuda_u32 line) {
    const Texture *t = object(handle, 1, shape, line);
    if (!t) return nullptr;
    long row = t->width * element(t), at[3] = {where[0], where[1], where[2]}, most[3] = {row - n, (long)t->height - 1, (long)t->depth - 1};
    if (at[0] & (n - 1)) {
        fail(10, handle, n, write, "the first coordinate of a surface counts bytes, and is no multiple of the size that is read or written", line);
        return nullptr;
    }
    bool outside = false;
    if (t->flags & (objectLayered | objectCube)) at[2] = (gocuda_u32)where[2]; // layers before the first are large numbers
    for (int i = 0; i < 3; i++) {
        long in = at[i] < 0 ? 0 : at[i] > most[i] ? most[i] : at[i];
        outside |= in != at[i];
        at[i] = in;
    }
    if (outside && mode == boundaryTrap) {
        fail(10, handle, n, write, write ? "a write beside the surface (the first coordinate counts bytes)" : "a read beside the surface (the first coordinate counts bytes)", line);
        return nullptr;
    }
    if ((outside && mode == boundaryZero) || row < (long)n) return nullptr;
    return (char *)t->base + at[2] * t->slice + at[1] * t->pitch + at[0];
}

GOCUDA_CALL void surface_load(gocuda_u64 handle, gocuda_u32 shape, const int *where, void *out, gocuda_u32 n, gocuda_u32 mode, gocuda_u32 line) {
    char *at = placed(handle, shape, where, n, mode, false, line);
    for (gocuda_u32 i = 0; i < n; i++) ((char *)out)[i] = at ? at[i] : 0;
}

GOCUDA_CALL void surface_store(gocuda_u64 handle, gocuda_u32 shape, const int *where, const void *in, gocuda_u32 n, gocuda_u32 mode, gocuda_u32 line) {
    char *at = placed(handle, shape, where, n, mode, true, line);
    for (gocuda_u32 i = 0; at && i < n; i++) at[i] = ((const char *)in)[i];
}

GOCUDA_CALL gocuda_u32 object_size(gocuda_u64 handle, gocuda_u32 surface, gocuda_u32 what, gocuda_u32 line) {
    Launch *l = self()->worker->launch;
    const Texture *t = (const Texture *)l->textures + (handle & 0xffff);
    bool known = l->textures && handle >> 48 == 0x7e87 && t->handle == handle;
    if (!known) object(handle, surface, 0, line);
    if (!known) return 0;
    gocuda_u32 layers = t->flags & objectCube ? t->depth / 6 : t->flags & objectLayered ? t->depth : 0;
    const gocuda_u32 sizes[] = {t->width, dimensions(t) > 1 ? t->height : 0, dimensions(t) > 2 ? t->depth : 0, layers, t->flags & objectNormalized ? 1u : 0u};
    return sizes[what];
}

} // namespace gocuda
