# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# A small layer in JAX: what surrounds two matrix products (GELU, layer normalisation, softmax), and results beside them
# that read the same array, so that XLA's multi-output fusion has something to do. In: weights and rows. Out: six arrays.
# Read by tools/xla-dump model.py:layer and its test.
import jax
import jax.numpy as jnp


def normalise(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift


def layer(weights, x):
    hidden = jax.nn.gelu(x @ weights["up"])
    result = normalise(hidden @ weights["down"], weights["scale"], weights["shift"])
    wide = jnp.exp(result)
    return jax.nn.softmax(result), result.max(-1), wide, wide.sum(-1), result * 2, jnp.tanh(x).sum(0)


def inputs():
    """The arguments of `layer`: shapes and types are all that is asked of them."""
    array = jax.ShapeDtypeStruct
    weights = {"up": array((64, 256), jnp.bfloat16), "down": array((256, 64), jnp.bfloat16),
               "scale": array((64,), jnp.float32), "shift": array((64,), jnp.float32)}
    return weights, array((128, 64), jnp.bfloat16)
