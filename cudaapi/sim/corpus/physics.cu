// Bodies, fields and flows. What is in double has products and sums that are each rounded as
// written, or a tolerance.

#define I int i = blockIdx.x * blockDim.x + threadIdx.x
#define CELL int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * w + x; if (x >= w || y >= h) return

struct Body { double x, y, z, mass; };

extern "C" __global__ void gravity(const Body *bodies, double3 *force, int n) {
    __shared__ Body near[32];
    I;
    Body me = bodies[min(i, n - 1)];
    double3 f = make_double3(0, 0, 0);
    for (int t = 0; t < n; t += 32) {
        if (t + threadIdx.x < n) near[threadIdx.x] = bodies[t + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < min(32, n - t); k++) {
            double dx = near[k].x - me.x, dy = near[k].y - me.y, dz = near[k].z - me.z, r = dx * dx + dy * dy + dz * dz + 0.01;
            double s = near[k].mass / (r * sqrt(r));
            f.x += s * dx;
            f.y += s * dy;
            f.z += s * dz;
        }
        __syncthreads();
    }
    if (i < n) force[i] = f;
}

// Cells of a square with side 1 hold particles start[c] to start[c + 1] - 1. It is a torus.
extern "C" __global__ void lennard_jones(const double2 *at, const int *start, double2 *force, int side, int n) {
    I;
    if (i >= n) return;
    double2 me = at[i], f = make_double2(0, 0);
    int cx = min(max((int)(me.x * side), 0), side - 1), cy = min(max((int)(me.y * side), 0), side - 1);
    for (int c = 0; c < 9; c++) {
        int cell = (cy + c / 3 - 1 + side) % side * side + (cx + c % 3 - 1 + side) % side;
        for (int k = start[cell]; k < start[cell + 1]; k++) {
            double dx = me.x - at[k].x, dy = me.y - at[k].y;
            dx -= rint(dx);
            dy -= rint(dy);
            double r2 = dx * dx + dy * dy;
            if (k == i || r2 > 0.04) continue;
            double s2 = 0.0004 / (r2 + 0.0001), s6 = s2 * s2 * s2, s = s6 * (2 * s6 - 1);
            f.x += s * dx;
            f.y += s * dy;
        }
    }
    force[i] = f;
}

struct __align__(16) Particle { int x, y, vx, vy; };

extern "C" __global__ void bounce(Particle *p, int n, int size, int steps) {
    I;
    if (i >= n) return;
    Particle q = p[i];
    for (int s = 0; s < steps; s++) {
        q.vy -= 3;
        q.x += q.vx;
        q.y += q.vy;
        if (q.x < 0 || q.x > size) {
            q.x = q.x < 0 ? -q.x : 2 * size - q.x;
            q.vx = -q.vx;
        }
        if (q.y < 0) {
            q.y = -q.y;
            q.vy = -q.vy;
        }
    }
    p[i] = q;
}

// A step of a lattice gas with nine directions, pulled, on a torus. f is plane by plane.
extern "C" __global__ void lattice(const double *f, double *next, int w, int h) {
    CELL;
    const int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    double v[9], rho = 0, ux = 0, uy = 0;
    for (int k = 0; k < 9; k++) {
        v[k] = f[k * w * h + (y - dy[k] + h) % h * w + (x - dx[k] + w) % w];
        rho += v[k];
        ux += dx[k] * v[k];
        uy += dy[k] * v[k];
    }
    ux /= rho;
    uy /= rho;
    for (int k = 0; k < 9; k++) {
        double weight = k == 0 ? 4.0 / 9 : k < 5 ? 1.0 / 9 : 1.0 / 36, c = 3 * (dx[k] * ux + dy[k] * uy);
        double rest = weight * rho * (1 + c + c * c / 2 - 1.5 * (ux * ux + uy * uy));
        next[k * w * h + i] = v[k] + 0.8 * (rest - v[k]);
    }
}

extern "C" __global__ void electric(double *ex, double *ey, const double *hz, int w, int h) {
    CELL;
    if (y > 0) ex[i] = __dadd_rn(ex[i], __dmul_rn(0.5, __dadd_rn(hz[i], -hz[i - w])));
    if (x > 0) ey[i] = __dadd_rn(ey[i], -__dmul_rn(0.5, __dadd_rn(hz[i], -hz[i - 1])));
}

extern "C" __global__ void magnetic(const double *ex, const double *ey, double *hz, int w, int h) {
    CELL;
    if (x == w - 1 || y == h - 1) return;
    double curl = __dadd_rn(__dadd_rn(ex[i + w], -ex[i]), __dadd_rn(ey[i], -ey[i + 1]));
    hz[i] = __dadd_rn(hz[i], __dmul_rn(0.7, curl));
}

// Runge and Kutta's method for Lorenz's equations, a trajectory a thread.
struct Point {
    double x, y, z;
    __device__ Point operator+(Point o) const { return {x + o.x, y + o.y, z + o.z}; }
    __device__ Point operator*(double f) const { return {f * x, f * y, f * z}; }
};

__device__ Point slope(Point p) { return {10 * (p.y - p.x), p.x * (28 - p.z) - p.y, p.x * p.y - 8.0 / 3 * p.z}; }

extern "C" __global__ void lorenz(Point *points, int steps) {
    I;
    Point p = points[i];
    const double d = 0.005;
    for (int s = 0; s < steps; s++) {
        Point a = slope(p), b = slope(p + a * (d / 2)), c = slope(p + b * (d / 2)), e = slope(p + c * d);
        p = p + (a + (b + c) * 2 + e) * (d / 6);
    }
    points[i] = p;
}
