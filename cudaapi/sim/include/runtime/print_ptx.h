// What kernels print whose arguments lie in memory, one after another, as PTX has them.
#pragma once

extern "C" int snprintf(char *, unsigned long, const char *, ...) noexcept;

// gocuda_vprintf prints piece by piece, each with its conversion, into one text.
GOCUDA_CALL gocuda_u32 gocuda_vprintf(gocuda_u64 format, gocuda_u64 args) {
    char small[1024], *text = small;
    unsigned long n = 0, room = sizeof small;
    gocuda_u32 count = 0;
    auto add = [&](const char *how, auto... of) {
        int made = snprintf(text + n, room - n, how, of...);
        if (made > 0 && (unsigned long)made >= room - n) {
            unsigned long more = 2 * (n + (unsigned long)made + 1);
            char *wider = (char *)malloc(more);
            if (!wider) return;
            __builtin_memcpy(wider, text, n);
            if (text != small) free(text);
            text = wider, room = more;
            made = snprintf(text + n, room - n, how, of...);
        }
        if (made > 0) n += (unsigned long)made;
    };
    const char *p = (const char *)format;
    auto word = [&] {
        gocuda_u32 v = *(const gocuda_u32 *)args;
        args += 4;
        return v;
    };
    auto wide = [&] {
        args = (args + 7) & ~7ul;
        gocuda_u64 v = *(const gocuda_u64 *)args;
        args += 8;
        return v;
    };
    while (*p) {
        int plain = 0;
        while (p[plain] && p[plain] != '%') plain++;
        if (plain || p[1] == '%') {
            add("%.*s", plain ? plain : 1, p);
            p += plain ? plain : 2;
            continue;
        }
        char piece[64];
        unsigned long k = 0;
        bool is_wide = false, done = false;
        piece[k++] = *p++;
        while (*p && !done && k < sizeof piece - 16) {
            char c = *p++;
            switch (c) {
            case 'l': case 'j': case 'z': case 't':
                is_wide = true; // as on a GPU's host: long has 64 bits
                continue;
            case 'h': case 'L':
                if (c == 'h') piece[k++] = c;
                continue;
            case '*': {
                int width = (int)word(), digits = snprintf(piece + k, 12, "%d", width);
                k += (unsigned long)digits;
                continue;
            }
            case 'd': case 'i': case 'u': case 'o': case 'x': case 'X': case 'c':
                if (is_wide && c != 'c') piece[k++] = 'l';
                piece[k++] = c, piece[k] = 0;
                if (is_wide && c != 'c') add(piece, wide());
                else add(piece, word());
                break;
            case 'p': case 's':
                piece[k++] = c, piece[k] = 0;
                add(piece, wide());
                break;
            case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A': {
                piece[k++] = c, piece[k] = 0;
                gocuda_u64 bits = wide();
                double v;
                __builtin_memcpy(&v, &bits, 8);
                add(piece, v);
                break;
            }
            default:
                piece[k++] = c;
                if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == ' ' || c == '#' || c == '.') continue;
                piece[k] = 0;
                add("%s", piece);
                done = true;
                continue;
            }
            count++;
            done = true;
        }
    }
    gocuda::write_out(text, n, small);
    return count;
}
