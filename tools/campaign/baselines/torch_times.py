#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# PyTorch, eager and compiled, on the cases: under a stream and as one CUDA graph, timed by events; with --flush by events
# and by CUPTI's records of the call's kernels, which is how tailor times.
import common

chosen = common.options("time PyTorch")
try:
    import torch
    import torch.nn.functional as F
except ImportError as why:
    common.absent("torch", why)
if not chosen.on_host and not torch.cuda.is_available():
    common.absent("torch", "it sees no GPU")

REPLAYS_AFTER_FLUSH = 40
VARIANTS = [("eager", None), ("compile", {}), ("compile max-autotune", {"mode": "max-autotune-no-cudagraphs"})]


def bias_residual_layernorm(x, bias, residual, scale, shift):
    total = x + bias + residual
    return F.layer_norm(total, total.shape[-1:], scale, shift), total


FUNCTIONS = {
    "softmax": lambda x: torch.softmax(x, -1),
    "layernorm": lambda x, scale, shift: F.layer_norm(x, x.shape[-1:], scale, shift),
    "rmsnorm": lambda x, scale: (x.float() * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * scale,
    "bias_residual_layernorm": bias_residual_layernorm,
    "gelu": lambda x: F.gelu(x),
    "bias_gelu": lambda x, bias: F.gelu(x + bias),
    "row_sum": lambda x: x.sum(1),
    "column_sum": lambda x: x.sum(0),
    "transpose": lambda x: x.t().contiguous(),
    "copy": lambda x: x.clone(),
}


def make_sets(case, count, device):
    generator = torch.Generator(device=device).manual_seed(1)
    dtype = getattr(torch, case["dtype"])
    return [[torch.randn(shape, generator=generator, device=device, dtype=torch.float32).to(dtype)
             for shape in common.operand_shapes(case)] for _ in range(count)]


def samples_of(run, count):
    """Times of `run`, which makes `count` calls, after a warm-up."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begun = common.time.monotonic()
    while common.time.monotonic() - begun < common.WARM_SECONDS:
        run()
        torch.cuda.synchronize()
    samples = []
    for _ in range(common.REPLAYS):
        start.record()
        run()
        end.record()
        end.synchronize()
        samples.append(start.elapsed_time(end) * 1e-3 / count)
    return samples


def make_flush():
    """A call that overwrites L2 and then fills it with clean data."""
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    written = torch.empty(2 * l2, dtype=torch.int8, device="cuda")
    read = torch.ones(2 * l2 // 4, dtype=torch.float32, device="cuda")

    def flush():
        written.zero_()
        read.sum()
    return flush


def samples_after_flush(call, flush):
    """Times of one call each, between two events, after the flush."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    samples = []
    for _ in range(3 + REPLAYS_AFTER_FLUSH):
        flush()
        start.record()
        call()
        end.record()
        end.synchronize()
        samples.append(start.elapsed_time(end) * 1e-3)
    return samples[3:]


def kernel_seconds(run):
    """Of everything the GPU did meanwhile, in order, as CUPTI recorded it."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as recorded:
        run()
        torch.cuda.synchronize()
    found = [event for event in recorded.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    return [event.time_range.elapsed_us() * 1e-6 for event in sorted(found, key=lambda event: event.time_range.start)]


def kernel_samples_after_flush(call, flush):
    """Times of the kernels of one call each, added up; how many of the records belong to a flush was counted before."""
    def both(count):
        for _ in range(count):
            flush()
            call()

    of_flush = len(kernel_seconds(flush))
    times = kernel_seconds(lambda: both(REPLAYS_AFTER_FLUSH))
    each, left = divmod(len(times), REPLAYS_AFTER_FLUSH)
    if left or each <= of_flush:
        raise RuntimeError(f"{len(times)} records of {REPLAYS_AFTER_FLUSH} calls, {of_flush} of a flush")
    return [sum(times[first + of_flush:first + each]) for first in range(0, len(times), each)]


def as_graph(function, sets):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            function(*sets[0])
    torch.cuda.current_stream().wait_stream(side)
    graph, kept = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        kept.extend(function(*one) for one in sets)
    return graph, kept


def measure(case, variant, compile_options, about):
    function = FUNCTIONS[case["op"]]
    if compile_options is not None:
        torch._dynamo.reset()
        function = torch.compile(function, **compile_options)
    if chosen.on_host:
        if compile_options is None:
            function(*make_sets(case, 1, "cpu")[0])
            common.emit(case, baseline="torch", variant=variant, launch="stream", timed_by="host", sets=1, samples_s=[], **about)
        return
    if chosen.flush:
        inputs = make_sets(case, 1, "cuda")[0]
        function(*inputs)  # compiles
        for timed_by, samples in (("events", samples_after_flush), ("activity", kernel_samples_after_flush)):
            common.emit(case, baseline="torch", variant=variant, launch="stream", timed_by=timed_by, sets=1,
                        cache="clean flush", samples_s=samples(lambda: function(*inputs), make_flush()), **about)
        return
    count = common.sets_of(case, torch.cuda.get_device_properties(0).L2_cache_size)
    sets = make_sets(case, count, "cuda")
    function(*sets[0])  # compiles
    kept = [None] * count

    def stream():
        for place, one in enumerate(sets):
            kept[place] = function(*one)

    common.emit(case, baseline="torch", variant=variant, launch="stream", timed_by="events", sets=count,
                samples_s=samples_of(stream, count), **about)
    kept.clear()
    kept.extend([None] * count)
    graph, outputs = as_graph(function, sets)
    common.emit(case, baseline="torch", variant=variant, launch="graph", timed_by="events", sets=count,
                samples_s=samples_of(graph.replay, count), **about)
    del graph, outputs


def main():
    about = {"versions": {"torch": torch.__version__, "cuda": torch.version.cuda, "triton": triton_version()},
             "gpu": "none" if chosen.on_host else torch.cuda.get_device_name(0)}
    budget = common.Budget(chosen.seconds - 3)
    with torch.no_grad():
        for variant, compile_options in VARIANTS[:2] if chosen.flush else VARIANTS:
            for case in common.cases(chosen):
                if budget.is_used_up():
                    return
                try:
                    measure(case, variant, compile_options, about)
                except Exception as why:  # one case is not the end of the others
                    common.emit(case, baseline="torch", variant=variant, error=f"{type(why).__name__}: {why}"[:300], **about)
                if not chosen.on_host:
                    torch.cuda.empty_cache()


def triton_version():
    try:
        import triton
        return triton.__version__
    except ImportError:
        return ""


main()
