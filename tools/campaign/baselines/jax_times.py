#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# XLA through JAX on the cases. "stream": one executable called again and again. "graph": all calls in one executable, kept
# in order by barriers, which XLA records as CUDA graphs by itself. JAX has no events: the host's clock is read around a
# number of calls long enough to hide the wait for their end.
import os

import common

chosen = common.options("time XLA through JAX")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
try:
    import jax
    import jax.numpy as jnp
    import jaxlib
except ImportError as why:
    common.absent("jax", why)
platform = jax.devices()[0].platform
if not chosen.on_host and platform not in ("gpu", "cuda"):
    common.absent("jax", f"it sees {platform} and no GPU")

# Of the processor, where nothing tells: enough for every GPU up to now.
FALLBACK_L2 = 64 << 20


def layernorm(x, scale, shift):
    wide = x.astype(jnp.float32)
    centred = wide - wide.mean(-1, keepdims=True)
    return (centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)).astype(x.dtype) * scale + shift


def rmsnorm(x, scale):
    wide = x.astype(jnp.float32)
    return (wide * jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * scale


def bias_residual_layernorm(x, bias, residual, scale, shift):
    total = x + bias + residual
    return layernorm(total, scale, shift), total


FUNCTIONS = {
    "softmax": lambda x: jax.nn.softmax(x, -1), "layernorm": layernorm, "rmsnorm": rmsnorm,
    "bias_residual_layernorm": bias_residual_layernorm, "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "bias_gelu": lambda x, bias: jax.nn.gelu(x + bias, approximate=False),
    "row_sum": lambda x: x.sum(1), "column_sum": lambda x: x.sum(0), "transpose": lambda x: x.T,
    "copy": lambda x: jnp.copy(x),
}


def make_sets(case, count):
    key = jax.random.key(1)
    sets = []
    for _ in range(count):
        key, *keys = jax.random.split(key, 1 + len(common.operand_shapes(case)))
        sets.append([jax.random.normal(k, shape, jnp.float32).astype(case["dtype"])
                     for k, shape in zip(keys, common.operand_shapes(case))])
    return sets


def in_order(function):
    """All sets in one executable: each call waits for the result of the one before it."""
    def all_of(sets):
        outputs = []
        for one in sets:
            if outputs:
                one, outputs[-1] = jax.lax.optimization_barrier((one, outputs[-1]))
            outputs.append(function(*one))
        return outputs
    return all_of


def samples_of(run, count):
    begun = common.time.monotonic()
    while True:
        jax.block_until_ready(run())
        if common.time.monotonic() - begun > common.WARM_SECONDS:
            break
    begun = common.time.monotonic()
    jax.block_until_ready(run())
    once = max(common.time.monotonic() - begun, 1e-6)
    repeats = max(1, min(50, int(5e-3 / once)))
    samples = []
    for _ in range(common.REPLAYS):
        begun = common.time.perf_counter()
        for _ in range(repeats):
            last = run()
        jax.block_until_ready(last)
        samples.append((common.time.perf_counter() - begun) / (repeats * count))
    return samples


def measure(case, about):
    count = 2 if chosen.on_host else common.sets_of(case, FALLBACK_L2)
    sets = make_sets(case, count)
    single = jax.jit(FUNCTIONS[case["op"]])
    common.emit(case, baseline="xla", variant="jax.jit", launch="stream", timed_by="host", sets=count,
                samples_s=samples_of(lambda: [single(*one) for one in sets], count), **about)
    together = jax.jit(in_order(FUNCTIONS[case["op"]]))
    common.emit(case, baseline="xla", variant="jax.jit", launch="graph", timed_by="host", sets=count,
                samples_s=samples_of(lambda: together(sets), count), **about)


def main():
    about = {"versions": {"jax": jax.__version__, "jaxlib": jaxlib.__version__,
                          "platform": str(jax.devices()[0].client.platform_version).replace("\n", " ")},
             "gpu": "none" if chosen.on_host else jax.devices()[0].device_kind}
    budget = common.Budget(chosen.seconds - 3)
    for case in common.cases(chosen):
        if budget.is_used_up():
            return
        try:
            measure(case, about)
        except Exception as why:  # one case is not the end of the others
            common.emit(case, baseline="xla", variant="jax.jit", error=f"{type(why).__name__}: {why}"[:300], **about)


main()
