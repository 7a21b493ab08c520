// What compiled code asks of Go's runtime in the middle of a call; package native
// answers.
#define GO_MAKE 0
#define GO_GROW 1
#define GO_STORE 2
#define GO_OUTSIDE 3
static void (*go_cross)(void *, void *, int, u64);
static void *go_answer;
static GO_COLD void ask(thread &go, u32 what, u32 type, u64 a, u64 b = 0, u64 c = 0, u64 d = 0) {
    record *r = go.call;
    r->what = what; r->type = type; r->held = go.held;
    r->in[0] = a; r->in[1] = b; r->in[2] = c; r->in[3] = d;
    go_cross(go_answer, r, 0, 0);
    __asm__ volatile("" : : : "memory");
}
// root_frame is what a function may still use while it asks, or calls what may ask: N pointers,
// and M variables by their addresses and types.
template <i64 N, i64 M> struct root_frame {
    void *up; u64 words, refs; void *at[N + 2 * M]; thread &go;
    __attribute__((always_inline)) root_frame(thread &go) : up(go.held), words(N), refs(M), go(go) {
        for (i64 i = 0; i < N; i++) at[i] = 0;
        go.held = this;
    }
    __attribute__((always_inline)) ~root_frame() { go.held = up; }
    __attribute__((always_inline)) void knows(i64 i, void *p, u64 type) { at[N + 2 * i] = p; at[N + 2 * i + 1] = (void *)type; }
};
// outside calls a function of Go, with the arguments and places for results in a frame.
template <class T> static GO_COLD void outside(thread &go, u32 number, u32 site, T *frame) {
    ask(go, GO_OUTSIDE, number, (u64)frame, site);
    go.dead = go.call->state != returned;
}
// map_len is the first word of a map.
GO_FUNC i64 map_len(void *m) { return m ? *(const volatile i64 *)m : 0; }
template <class T> GO_FUNC slice<T> make(thread &go, u32 type, i64 len, i64 cap) {
    ask(go, GO_MAKE, type, cap);
    return slice<T>{(T *)go.call->out[0], len, cap};
}
template <class T> GO_FUNC T *create(thread &go, u32 type) {
    ask(go, GO_MAKE, type, 1);
    return (T *)go.call->out[0];
}
// from is the address of an element of which there may be none: what is behind all of
// them may be another thing's.
template <class T> GO_FUNC T *from(T *p, i64 lo, i64 max) { return max > lo ? p + lo : p; }
// cuts says whether a store may take the last way to something. If so, Go's runtime
// stores: the collector may have to know the old pointer. Where none was, or the same
// one, the value is stored as it is.
template <class T> GO_FUNC bool cuts(const T &old, const T &now) {
    for (u64 i = 0; i < sizeof(T) / 8; i++) // a word may be a pointer
        if (((const u64 *)&old)[i] && ((const u64 *)&old)[i] != ((const u64 *)&now)[i]) return true;
    return false;
}
template <class T> GO_FUNC bool cuts(T *const &old, T *const &now) { return old && old != now; }
template <class T> GO_FUNC bool cuts(const slice<T> &old, const slice<T> &now) { return old.ptr && old.ptr != now.ptr; }
GO_FUNC bool cuts(const string &old, const string &now) { return old.ptr && old.ptr != now.ptr; }
template <class T> static GO_COLD void replace(thread &go, u32 type, T *at, const T *from, i64 n) {
    ask(go, GO_STORE, type, (u64)at, (u64)from, n);
}
template <class T> GO_FUNC void put(thread &go, u32 type, T *at, T v) {
    if (GO_RARELY(cuts(*at, v))) replace(go, type, at, &v, 1);
    else *at = v;
}
template <class T> GO_FUNC i64 copy_pointers(thread &go, u32 type, slice<T> dst, slice<T> src) {
    i64 n = dst.len < src.len ? dst.len : src.len;
    if (n > 0) replace(go, type, dst.ptr, src.ptr, n);
    return n;
}
template <class T> GO_FUNC void clear_pointers(thread &go, u32 type, slice<T> s) {
    if (s.len > 0) replace(go, type, s.ptr, (const T *)0, s.len);
}
template <class T> static GO_COLD slice<T> grown(thread &go, u32 type, slice<T> s, i64 n) {
    ask(go, GO_GROW, type, (u64)s.ptr, s.len + n, s.cap, n);
    return slice<T>{(T *)go.call->out[0], s.len, (i64)go.call->out[1]};
}
// hold_elements has a copy of a slice until the function ends: permute.go says why. Words
// are stored one by one, as the collector reads them.
template <class T> struct hold_elements {
    root_frame<1, 0> copy; bool told;
    hold_elements(thread &go, u32 type, slice<T> s) : copy(go), told(go.told) {
        if (s.len > 1) copy.at[0] = grown(go, type, slice<T>{s.ptr, s.len, s.len}, 1).ptr;
        go.told = false;
    }
    ~hold_elements() { copy.go.told |= told; }
};
template <class T> static GO_COLD void swap_told(thread &go, u32 type, T *a, T *b) {
    T x = *a, y = *b;
    root_frame<0, 2> both(go);
    both.knows(0, &x, type);
    both.knows(1, &y, type);
    put(go, type, a, y);
    put(go, type, b, x);
}
template <class T> GO_FUNC void swap_elements(thread &go, u32 type, T *a, T *b) {
    if (GO_RARELY(go.told)) return swap_told(go, type, a, b);
    u64 *x = (u64 *)a, *y = (u64 *)b;
    for (u64 i = 0; i < sizeof(T) / 8; i++) {
        u64 v = x[i];
        __atomic_store_n(x + i, y[i], __ATOMIC_RELAXED);
        __atomic_store_n(y + i, v, __ATOMIC_RELAXED);
    }
}
template <class T, class... V> GO_FUNC slice<T> append(thread &go, u32 type, slice<T> s, V... v) {
    const i64 n = sizeof...(v);
    if (GO_RARELY(s.len + n > s.cap)) s = grown(go, type, s, n);
    T list[] = {v...};
    for (i64 i = 0; i < n; i++) s.ptr[s.len + i] = list[i];
    s.len += n;
    return s;
}
template <class T, class... V> GO_FUNC slice<T> append_pointers(thread &go, u32 type, slice<T> s, V... v) {
    const i64 n = sizeof...(v);
    if (GO_RARELY(s.len + n > s.cap)) s = grown(go, type, s, n);
    T list[] = {v...};
    for (i64 i = 0; i < n; i++) put(go, type, s.ptr + s.len + i, list[i]);
    s.len += n;
    return s;
}
template <class T> GO_FUNC slice<T> append_all(thread &go, u32 type, slice<T> s, slice<T> more) {
    if (more.len == 0) return s;
    if (GO_RARELY(s.len + more.len > s.cap)) s = grown(go, type, s, more.len);
    __builtin_memmove(s.ptr + s.len, more.ptr, more.len * sizeof(T));
    s.len += more.len;
    return s;
}
GO_FUNC slice<u8> append_all(thread &go, u32 type, slice<u8> s, string more) { return append_all(go, type, s, slice<u8>{(u8 *)more.ptr, more.len, more.len}); }
template <class T> GO_FUNC slice<T> append_all_pointers(thread &go, u32 type, slice<T> s, slice<T> more) {
    if (more.len == 0) return s;
    if (GO_RARELY(s.len + more.len > s.cap)) s = grown(go, type, s, more.len);
    replace(go, type, s.ptr + s.len, more.ptr, more.len);
    s.len += more.len;
    return s;
}
static GO_COLD u8 *text(thread &go, u32 type, i64 n) {
    ask(go, GO_MAKE, type, n);
    return (u8 *)go.call->out[0];
}
static GO_COLD string join(thread &go, u32 type, string a, string b) {
    if (a.len == 0) return b;
    if (b.len == 0) return a;
    u8 *p = text(go, type, a.len + b.len);
    __builtin_memcpy(p, a.ptr, a.len);
    __builtin_memcpy(p + a.len, b.ptr, b.len);
    return string{p, a.len + b.len};
}
static GO_COLD string text_of(thread &go, u32 type, slice<u8> s) {
    if (s.len == 0) return string{};
    u8 *p = text(go, type, s.len);
    __builtin_memcpy(p, s.ptr, s.len);
    return string{p, s.len};
}
static GO_COLD slice<u8> bytes_of(thread &go, u32 type, string s) {
    u8 *p = text(go, type, s.len);
    __builtin_memcpy(p, s.ptr, s.len);
    return slice<u8>{p, s.len, s.len};
}
static GO_COLD string text_of_rune(thread &go, u32 type, i64 r) {
    if (r < 0 || r > 0x10ffff || r >= 0xd800 && r < 0xe000) r = 0xfffd;
    i64 n = r < 0x80 ? 1 : r < 0x800 ? 2 : r < 0x10000 ? 3 : 4;
    u8 *p = text(go, type, n);
    if (n == 1) { p[0] = r; return string{p, n}; }
    for (i64 i = n; i-- > 1; r >>= 6) p[i] = 0x80 | (r & 0x3f);
    p[0] = r | (n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0);
    return string{p, n};
}
// held is a value that compiled code cannot use.
template <i64 N> struct held { u64 word[N]; };
template <i64 N> GO_FUNC bool is_nil(held<N> x) { return !x.word[0]; }
template <i64 N> GO_FUNC bool not_nil(held<N> x) { return x.word[0]; }
// Interfaces: the first word is the type of an any, or a table, whose second word is the type.
GO_FUNC held<1> any_type(held<2> x) { return held<1>{x.word[0]}; }
GO_FUNC held<1> table_type(held<2> x) { return held<1>{x.word[0] ? ((const u64 *)x.word[0])[1] : 0}; }
GO_FUNC held<2> any_of(held<2> x) { return held<2>{table_type(x).word[0], x.word[1]}; }
GO_FUNC held<2> retyped(held<2> x) { return x; }
GO_FUNC held<1> func_word(held<1> f) { return f; }
GO_FUNC bool has_data(held<2> x) { return x.word[1]; }
template <class T> GO_FUNC held<2> interface_of(held<1> type, T *p) { return held<2>{type.word[0], (u64)p}; }
GO_FUNC held<2> interface_of(held<1> type, held<1> p) { return held<2>{type.word[0], p.word[0]}; }
template <class T> struct data_of { static T get(u64 word) { return (T)word; } };
template <> struct data_of<held<1>> { static held<1> get(u64 word) { return held<1>{word}; } };
template <class T> GO_FUNC T data(held<2> x) { return data_of<T>::get(x.word[1]); }
// dynamic_kind is the number of a type, which Go says once: it lies above the type's address.
static GO_COLD i64 ask_kind(thread &go, u32 number, u32 site, u64 *known, u64 type) {
    struct { u64 type; i64 kind; } frame = {type, 0};
    outside(go, number, site, &frame);
    if (type >> 48 == 0 && (u64)frame.kind < 1 << 16) __atomic_store_n(known, type | (u64)frame.kind << 48, __ATOMIC_RELAXED);
    return frame.kind;
}
GO_FUNC i64 dynamic_kind(thread &go, u32 number, u32 site, u64 *known, u64 type) {
    if (!type) return 0;
    known += (type >> 5 ^ type >> 11) & 63;
    u64 k = __atomic_load_n(known, __ATOMIC_RELAXED);
    return (k & ((u64)1 << 48) - 1) == type ? k >> 48 : ask_kind(go, number, site, known, type);
}
GO_FUNC i64 strings_compare(string a, string b) {
    i64 c = compare(a, b);
    return (c > 0) - (c < 0);
}
GO_FUNC bool strings_hasPrefix(string s, string p) { return s.len >= p.len && string{s.ptr, p.len} == p; }
GO_FUNC bool strings_hasSuffix(string s, string p) { return s.len >= p.len && string{s.ptr + (s.len - p.len), p.len} == p; }
GO_FUNC i64 strings_indexByte(string s, u8 c) {
    for (i64 i = 0; i < s.len; i++) if (s.ptr[i] == c) return i;
    return -1;
}
// builder is strings.Builder, and builder_writestring and its like are its methods. It points to itself
// once it has text, so a copy of it is known.
struct builder { void *self; slice<u8> text; };
GO_FUNC bool builder_copied(thread &go, u32 type, u32 slices, builder *b) { return b->self && b->self != b; }
GO_FUNC void builder_set(thread &go, u32 slices, builder *b, slice<u8> s) {
    b->self = b;
    put(go, slices, &b->text, s);
}
GO_FUNC void builder_writebyte(thread &go, u32 type, u32 slices, builder *b, u8 c) { builder_set(go, slices, b, append(go, type, b->text, c)); }
GO_FUNC void builder_writestring(thread &go, u32 type, u32 slices, builder *b, string s) { builder_set(go, slices, b, append_all(go, type, b->text, s)); }
GO_FUNC void builder_writerune(thread &go, u32 type, u32 slices, builder *b, i32 r) {
    if ((u32)r < 0x80) builder_writebyte(go, type, slices, b, r);
    else builder_writestring(go, type, slices, b, text_of_rune(go, type, r));
}
GO_FUNC void builder_reset(thread &go, u32 type, u32 slices, builder *b) {
    b->self = 0;
    put(go, slices, &b->text, slice<u8>{});
}
GO_FUNC string builder_string(thread &go, u32 type, u32 slices, builder *b) { return string{b->text.ptr, b->text.len}; }
GO_FUNC i64 builder_len(thread &go, u32 type, u32 slices, builder *b) { return b->text.len; }
