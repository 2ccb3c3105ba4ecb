#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# CUB through CuPy on the cases it has a routine for: sums of rows (segmented) and of everything. Under a stream only: its
# workspace is allocated at each call, which a graph cannot hold.
import common

chosen = common.options("time CUB through CuPy")
try:
    import cupy
    from cupy.cuda import cub
except Exception as why:  # a broken CUDA set-up raises more than ImportError
    common.absent("cupy", why)
try:
    devices = cupy.cuda.runtime.getDeviceCount()
except Exception as why:
    common.absent("cupy", why)
if not devices:
    common.absent("cupy", "it sees no GPU")


def measure(case, about):
    rows, columns = case["shape"]
    count = common.sets_of(case, cupy.cuda.runtime.getDeviceProperties(0)["l2CacheSize"])
    dtype = cupy.dtype(case["dtype"])
    sets = [cupy.random.standard_normal((rows, columns), dtype=cupy.float32).astype(dtype) for _ in range(count)]
    kept = [None] * count

    def run():
        for place, one in enumerate(sets):
            kept[place] = one.sum(axis=1)

    begun = common.time.monotonic()
    while common.time.monotonic() - begun < common.WARM_SECONDS:
        run()
        cupy.cuda.Device().synchronize()
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    samples = []
    for _ in range(common.REPLAYS):
        start.record()
        run()
        end.record()
        end.synchronize()
        samples.append(cupy.cuda.get_elapsed_time(start, end) * 1e-3 / count)
    common.emit(case, baseline="cub", variant="cupy", launch="stream", timed_by="events", sets=count, samples_s=samples, **about)


def main():
    from cupy._core import set_reduction_accelerators
    set_reduction_accelerators(["cub"])
    about = {"versions": {"cupy": cupy.__version__, "cub": str(cub.get_build_version())},
             "gpu": cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()}
    budget = common.Budget(chosen.seconds - 3)
    for case in common.cases(chosen):
        if budget.is_used_up():
            return
        if case["op"] != "row_sum":
            continue
        try:
            measure(case, about)
        except Exception as why:  # one case is not the end of the others
            common.emit(case, baseline="cub", variant="cupy", error=f"{type(why).__name__}: {why}"[:300], **about)


main()
