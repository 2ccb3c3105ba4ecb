# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# Assembles Tailor's own kernels at build time, so that a machine whose driver brings no assembler can measure too. In:
# kernels.cpp, whose raw string is the PTX, and the assembler, or nothing where there is none. Out: a source with the
# machine code for sm_90 as bytes, none without an assembler or where it fails. Meson calls it when kernels.cpp changed.
#
# Usage: assemble.py KERNELS.cpp OUTPUT.cpp [PTXAS]
import os
import re
import subprocess
import sys
import tempfile

source, target, assembler = (sys.argv[1:] + [""])[:3]
with open(source, encoding="utf-8") as file:
    text = re.search(r'R"\((.*?)\)"', file.read(), re.DOTALL)[1]
code = b""
if assembler:
    with tempfile.TemporaryDirectory() as folder:
        ptx, cubin = os.path.join(folder, "own.ptx"), os.path.join(folder, "own.cubin")
        with open(ptx, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([assembler, "-arch=sm_90", ptx, "-o", cubin], capture_output=True, text=True)
        if done.returncode == 0:
            with open(cubin, "rb") as file:
                code = file.read()
        else:
            print(f"own kernels are shipped as PTX alone: {done.stderr.strip()[:300]}", file=sys.stderr)
rows = [", ".join(f"{byte:#04x}" for byte in code[at:at + 16]) for at in range(0, len(code), 16)]
with open(target, "w", encoding="utf-8") as file:
    file.write('#include "profiler/gpu/session/kernels.h"\n\n'
               "namespace tailor::gpu {\n"
               f"alignas(64) static constexpr unsigned char code[{len(code) + 1}] = {{\n" + ",\n".join(rows) + "\n};\n"
               "std::span<const std::byte> own_kernels_sm_90() { return std::as_bytes(std::span(code).first("
               f"{len(code)})); }}\n"
               "}  // namespace tailor::gpu\n")
