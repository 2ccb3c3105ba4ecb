// The sum of an array in one launch: blocks leave partial sums, and the last one to finish adds them up. The fence
// between the partial sum and the ticket is missing, so the last block may add up what is not there yet.
// `tailor run data/kernels/last_block.cu` finds it, under any schedule.
// launch: grid=8 block=64
// buffer: x f32[512] input random
// buffer: parts f32[8] scratch
// buffer: tickets u32[1] scratch
// buffer: y f32[1] output
extern "C" __global__ void last_block(const float* x, float* parts, unsigned* tickets, float* y) {
  __shared__ float warps[2];
  __shared__ bool last;
  const int t = threadIdx.x;
  float sum = x[blockIdx.x * 64 + t];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (t % 32 == 0) warps[t / 32] = sum;
  __syncthreads();
  if (t == 0) {
    parts[blockIdx.x] = warps[0] + warps[1];
    // __threadfence() belongs here
    last = atomicAdd(tickets, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last || t != 0) return;
  float total = 0;
  for (int b = 0; b < gridDim.x; ++b) total += parts[b];
  *y = total;
}
