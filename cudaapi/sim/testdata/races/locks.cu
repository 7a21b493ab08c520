== lock-with-fences 4 32
__device__ int lock_NAME;
__global__ void KERNEL {
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock_NAME, 0, 1) != 0) {}
        __threadfence();
        c[0] += a[blockIdx.x]; /*12*/
//+        __threadfence();
        atomicExch(&lock_NAME, 0);
    }
}
== lock-without-any-fence 4 32
__device__ int lock_NAME;
__global__ void KERNEL {
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock_NAME, 0, 1) != 0) {}
//+        __threadfence();
        c[0] += a[blockIdx.x]; /*12*/
//+        __threadfence();
        atomicExch(&lock_NAME, 0);
    }
}
== lock-without-acquire note 4 32
__device__ int lock_NAME;
__global__ void KERNEL {
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock_NAME, 0, 1) != 0) {}
//+        __threadfence();
        c[0] += a[blockIdx.x]; /*12*/
        __threadfence();
        atomicExch(&lock_NAME, 0);
    }
}
== lock-of-block-scope 4 32
__device__ int lock_NAME;
__global__ void KERNEL {
    if (threadIdx.x == 0) {
//+        while (atomicCAS(&lock_NAME, 0, 1) != 0) {}
//-        while (atomicCAS_block(&lock_NAME, 0, 1) != 0) {}
        __threadfence();
        c[0] += a[blockIdx.x]; /*12*/
        __threadfence();
//+        atomicExch(&lock_NAME, 0);
//-        atomicExch_block(&lock_NAME, 0);
    }
}
== lock-with-block-fences 4 32
__device__ int lock_NAME;
__global__ void KERNEL {
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock_NAME, 0, 1) != 0) {}
//+        __threadfence();
//-        __threadfence_block();
        c[0] += a[blockIdx.x]; /*12*/
//+        __threadfence();
//-        __threadfence_block();
        atomicExch(&lock_NAME, 0);
    }
}
== lock-within-block 1 64
__global__ void KERNEL {
    __shared__ int lock, sum;
    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS_block(&lock, 0, 1) != 0) {}
//+        __threadfence_block();
        sum += a[threadIdx.x]; /*12*/
//+        __threadfence_block();
        atomicExch_block(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) c[0] = sum;
}
== lock-released-plainly 4 32
__device__ int lock_NAME;
__global__ void KERNEL {
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock_NAME, 0, 1) != 0) {} /*1*/
        __threadfence();
        c[0] += a[blockIdx.x];
        __threadfence();
//+        atomicExch(&lock_NAME, 0);
//-        lock_NAME = 0; /*2*/
    }
}
== one-lock-for-another 4 32
__device__ int lock_NAME[2];
__global__ void KERNEL {
    if (threadIdx.x == 0) {
//+        int *l = &lock_NAME[0];
//-        int *l = &lock_NAME[blockIdx.x % 2];
        while (atomicCAS(l, 0, 1) != 0) {}
        __threadfence();
        c[0] += a[blockIdx.x]; /*12*/
        __threadfence();
        atomicExch(l, 0);
    }
}
== read-outside-of-lock 4 32
__device__ int lock_NAME;
__global__ void KERNEL {
    if (threadIdx.x == 0) {
//-        if (c[0] > 1000000) return; /*1*/
        while (atomicCAS(&lock_NAME, 0, 1) != 0) {}
        __threadfence();
        c[0] += a[blockIdx.x]; /*2*/
        __threadfence();
        atomicExch(&lock_NAME, 0);
    }
}
== try-lock 4 32
__device__ int lock_NAME;
__global__ void KERNEL {
    if (threadIdx.x == 0) {
        bool done = false;
        while (!done) {
            if (atomicExch(&lock_NAME, 1) == 0) {
                __threadfence();
                c[0] += a[blockIdx.x]; /*12*/
//+                __threadfence();
                atomicExch(&lock_NAME, 0);
                done = true;
            }
        }
    }
}
== cuda-atomic-lock 4 32
__device__ int lock_NAME;
__global__ void KERNEL {
    if (threadIdx.x == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> l(lock_NAME);
        int free = 0;
        while (!l.compare_exchange_weak(free, 1, cuda::memory_order_acquire)) free = 0;
        c[0] += a[blockIdx.x]; /*12*/
//+        l.store(0, cuda::memory_order_release);
//-        l.store(0, cuda::memory_order_relaxed);
    }
}
== cuda-atomic-lock-of-block 4 32
__device__ int lock_NAME;
__global__ void KERNEL {
    if (threadIdx.x == 0) {
//+        cuda::atomic_ref<int, cuda::thread_scope_device> l(lock_NAME);
//-        cuda::atomic_ref<int, cuda::thread_scope_block> l(lock_NAME);
        int free = 0;
        while (!l.compare_exchange_weak(free, 1, cuda::memory_order_acquire)) free = 0;
        c[0] += a[blockIdx.x]; /*12*/
        l.store(0, cuda::memory_order_release);
    }
}
== ticket-lock 4 32
__device__ unsigned int ticket_NAME, turn_NAME;
__global__ void KERNEL {
    if (threadIdx.x == 0) {
        unsigned int mine = atomicAdd(&ticket_NAME, 1);
        while (atomicAdd(&turn_NAME, 0) != mine) {}
        __threadfence();
        c[0] += a[blockIdx.x]; /*12*/
//+        __threadfence();
        atomicAdd(&turn_NAME, 1);
    }
}
== once 4 32
__device__ int state_NAME;
__global__ void KERNEL {
    if (threadIdx.x == 0) {
        if (atomicCAS(&state_NAME, 0, 1) == 0) {
            c[0] = 42; /*1*/
//+            __threadfence();
            atomicExch(&state_NAME, 2);
        }
        while (atomicAdd(&state_NAME, 0) != 2) {}
        __threadfence();
        b[blockIdx.x] = c[0]; /*2*/
    }
}
== message 2 32
__device__ int ready_NAME;
__global__ void KERNEL {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        c[0] = 7; /*1*/
        __threadfence();
        atomicExch(&ready_NAME, 1);
    } else {
//+        while (atomicAdd(&ready_NAME, 0) == 0) {}
        __threadfence();
        b[0] = c[0]; /*2*/
    }
}
== message-volatile 2 32
__device__ volatile int ready_NAME;
__global__ void KERNEL {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        c[0] = 7; /*1*/
//+        __threadfence();
        ready_NAME = 1;
    } else {
        while (ready_NAME == 0) {}
//+        __threadfence();
        b[0] = c[0]; /*2*/
    }
}
== message-plain-data-late 2 32
__device__ volatile int ready_NAME;
__global__ void KERNEL {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
//+        c[0] = 7;
        __threadfence();
        ready_NAME = 1;
//-        c[0] = 7; /*1*/
    } else {
        while (ready_NAME == 0) {}
        __threadfence();
        b[0] = c[0]; /*2*/
    }
}
== message-within-block 1 64
__global__ void KERNEL {
    __shared__ volatile int ready;
    __shared__ int data;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = a[7]; /*1*/
//+        __threadfence_block();
        ready = 1;
    }
    if (threadIdx.x == 32) {
        while (ready == 0) {}
        __threadfence_block();
        c[0] = data; /*2*/
    }
}
== grid-barrier-by-hand 4 64
__device__ unsigned int here_NAME;
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x;
    c[i] = a[i]; /*1*/
//+    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&here_NAME, 1);
        while (atomicAdd(&here_NAME, 0) < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    b[i] = c[(i + 64) % 256]; /*2*/
}
== grid-barrier-without-fence 4 64
__device__ unsigned int here_NAME;
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x;
    c[i] = a[i]; /*1*/
    __syncthreads();
    if (threadIdx.x == 0) {
//+        __threadfence();
        atomicAdd(&here_NAME, 1);
        while (atomicAdd(&here_NAME, 0) < gridDim.x) {}
//+        __threadfence();
    }
    __syncthreads();
    b[i] = c[(i + 64) % 256]; /*2*/
}
== grid-barrier-without-last-barrier 4 64
__device__ unsigned int here_NAME;
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x;
    c[i] = a[i]; /*1*/
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&here_NAME, 1);
        while (atomicAdd(&here_NAME, 0) < gridDim.x) {}
        __threadfence();
    }
//+    __syncthreads();
    b[i] = c[(i + 64) % 256]; /*2*/
}
== counter-that-the-last-resets 4 32
__device__ unsigned count_NAME;
__global__ void KERNEL {
    if (threadIdx.x == 0) {
//+        if (atomicAdd(&count_NAME, 1u) == gridDim.x - 1) /*1*/
//-        if (atomicAdd(&count_NAME, 1u) == 0) /*1*/
            count_NAME = 0; /*2*/
    }
}
== flag-that-is-taken-back 1 64
__device__ int flag_NAME;
__global__ void KERNEL {
    if (threadIdx.x == 0) atomicExch(&flag_NAME, 1); /*1*/
    if (threadIdx.x == 32) {
//+        while (atomicAdd(&flag_NAME, 0) == 0) {}
        flag_NAME = 0; /*2*/
    }
}
