// Sums of rows, one warp a row. The tail is wrong: a row has 100 elements, the loop takes 128, so the last rows read
// behind the array and the others read their neighbours. `tailor run data/kernels/row_sum.cu` finds the first.
// launch: grid=8 block=32
// buffer: x f32[8,100] input random
// buffer: y f32[8] output
extern "C" __global__ void row_sum(const float* x, float* y) {
  float sum = 0;
  for (int i = threadIdx.x; i < 128; i += 32) sum += x[blockIdx.x * 100 + i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
