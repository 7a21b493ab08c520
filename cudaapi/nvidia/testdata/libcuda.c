// Functions of libcuda that do nothing but note their arguments; stub_code makes
// them fail, and stub_bound makes them want a current context.
#include <stdint.h>

typedef uintptr_t word;

static __thread word current;
static int code, bound;
static word seen[11];

void stub_code(int c) { code = c; }
void stub_bound(int b) { bound = b; }
word stub_seen(int i) { return seen[i]; }

static int note(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k) {
  word all[] = {a, b, c, d, e, f, g, h, i, j, k};
  for (int n = 0; n < 11; n++) seen[n] = all[n];
  return bound && !current ? 201 : code;
}

int cuCtxGetCurrent(word *c) { *c = current; return 0; }
int cuCtxSetCurrent(word c) { current = c; return 0; }
int cuEventRecord(word e, word s) { return note(e, s, 0, 0, 0, 0, 0, 0, 0, 0, 0); }
int cuStreamWaitEvent(word s, word e, unsigned flags) { return note(s, e, flags, 0, 0, 0, 0, 0, 0, 0, 0); }
int cuStreamQuery(word s) { return note(s, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0); }
int cuMemFreeAsync(word p, word s) { return note(p, s, 0, 0, 0, 0, 0, 0, 0, 0, 0); }
int cuMemAllocAsync(word *p, word n, word s) {
  int c = note(n, s, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  if (c == 0) *p = 0x7f0012345600;
  return c;
}
int cuLaunchKernel(word f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, word s, word **params, word **extra) {
  return note(f, gx, gy, gz, bx, by, bz, shared, s, (word)params, extra ? *extra[1] : 0);
}
