// Mean of each element and its neighbours, by way of shared memory. One barrier is missing: a thread reads what its
// neighbour may not have written yet. `tailor run data/kernels/stencil.cu` finds it.
// launch: grid=4 block=128
// buffer: x f32[512] input random
// buffer: y f32[512] output
extern "C" __global__ void stencil(const float* x, float* y) {
  __shared__ float row[130];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  row[t + 1] = x[i];
  if (t == 0) row[0] = i > 0 ? x[i - 1] : 0;
  if (t == 127) row[129] = i < 511 ? x[i + 1] : 0;
  // __syncthreads() belongs here
  y[i] = (row[t] + row[t + 1] + row[t + 2]) / 3;
}
