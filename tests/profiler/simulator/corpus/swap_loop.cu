// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A sum and a maximum by compare-and-swap, each begun with a plain load, as the programming guide does it for types
// that have no atomic.
// launch: grid=4 block=64
// buffer: x f32[256] input random
// buffer: sum f64[1] scratch zero
// buffer: most f32[1] scratch zero
// buffer: count u32[1] scratch zero
// buffer: y f64[2] output
// plant: STALE race
// plant: LOOKS_FIRST race
// plant: PLAIN_STORE race
__device__ double add(double* address, double value, double* first) {
  auto* p = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *p, seen;  // BUG STALE PLAIN_STORE
  if (STALE) *first = __longlong_as_double(old);
  do {
    seen = old;
    const double next = value + __longlong_as_double(seen);
    old = atomicCAS(p, seen, static_cast<unsigned long long>(__double_as_longlong(next)));  // BUG STALE PLAIN_STORE
  } while (seen != old);
  if (PLAIN_STORE) *address = value;  // BUG PLAIN_STORE
  return __longlong_as_double(seen);
}
__device__ void most_of(float* address, float value) {
  float old = *address, seen;  // BUG LOOKS_FIRST
  if (LOOKS_FIRST && old >= value) return;
  do {
    seen = old;
    const int wanted = __float_as_int(fmaxf(seen, value));
    old = __int_as_float(atomicCAS(reinterpret_cast<int*>(address), __float_as_int(seen), wanted));  // BUG LOOKS_FIRST
  } while (seen != old);
}
extern "C" __global__ void swap_loop(const float* x, double* sum, float* most, unsigned* count, double* y) {
  const float mine = fabsf(x[blockIdx.x * 64 + threadIdx.x]);
  double first = 0;
  const double before = add(sum, mine, &first);
  most_of(most, mine);
  if (STALE && before < first) y[0] = first;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(count, 1u) == 3) {
    __threadfence();
    y[0] = *sum;
    y[1] = *most;
  }
}
