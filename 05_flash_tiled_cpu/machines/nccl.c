/*
 * ring.c's exchange and wait with NCCL, for GPUs. Untried: we have one GPU.
 *
 * A copy waits for kernels that read the buffer it overwrites, a kernel for its keys; the CPU never
 * waits.
 */
#include "05_flash_tiled_cpu/machines/ring.h"

#if __has_include(<nccl.h>)
#include <nccl.h>

struct streams {
    ncclComm_t comm;
    cudaStream_t copies, kernels;
    cudaEvent_t room_is_free, keys_are_here;
};

void ring_exchange_nccl(const struct ring *r, const struct streams *s, const void *from,
                        size_t from_bytes, void *to, size_t to_bytes);
void ring_wait_nccl(const struct streams *s);

void ring_exchange_nccl(const struct ring *r, const struct streams *s, const void *from,
                        size_t from_bytes, void *to, size_t to_bytes)
{
    cudaEventRecord(s->room_is_free, s->kernels);
    cudaStreamWaitEvent(s->copies, s->room_is_free, 0);
    ncclGroupStart();
    ncclRecv(to, to_bytes, ncclUint8, (int)ring_before(r, 1), s->comm, s->copies);
    ncclSend(from, from_bytes, ncclUint8, (int)ring_after(r, 1), s->comm, s->copies);
    ncclGroupEnd();
    cudaEventRecord(s->keys_are_here, s->copies);
}

void ring_wait_nccl(const struct streams *s)
{
    cudaStreamWaitEvent(s->kernels, s->keys_are_here, 0);
}
#endif
