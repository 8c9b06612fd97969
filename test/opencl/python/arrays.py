# SPDX-License-Identifier: BSD-3-Clause
"""Arrays on every device: element by element, sums, scans, products. Prints results that must be
equal on all platforms."""
import numpy as np
import pyopencl as cl
import pyopencl.array as array
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import InclusiveScanKernel

context = cl.Context(cl.get_platforms()[0].get_devices())
for device in context.devices:
    queue = cl.CommandQueue(context, device)
    random = np.random.default_rng(7)
    a = random.integers(0, 1 << 20, 50000).astype(np.int32)
    b = random.integers(0, 1 << 20, 50000).astype(np.int32)
    a_there, b_there = array.to_device(queue, a), array.to_device(queue, b)

    blend = ElementwiseKernel(context, "int *out, int *a, int *b, int factor",
                              "out[i] = a[i] * factor + (b[i] ^ i)", "blend")
    out = array.empty_like(a_there)
    blend(out, a_there, b_there, np.int32(3))
    wanted = a * 3 + (b ^ np.arange(50000, dtype=np.int32))
    print("elements", int(np.abs(out.get() - wanted).max()))

    dot = ReductionKernel(context, np.int64, neutral="0", reduce_expr="a+b",
                          map_expr="(long)x[i]*y[i]", arguments="__global int *x, __global int *y")
    print("dot", int(dot(a_there, b_there).get()) - int(np.dot(a.astype(np.int64), b)))

    scan = InclusiveScanKernel(context, np.int32, "a+b", neutral="0")
    small = array.to_device(queue, a % 1000)
    scan(small)
    print("scan", int(np.abs(small.get() - np.cumsum(a % 1000)).max()))

    rests = array.to_device(queue, a % 1000)
    total = array.sum(rests, dtype=np.dtype(np.int64))
    print("sum", int(total.get()) - int((a % 1000).sum()))
    print("part", int(np.abs((a_there[100:4000] + b_there[100:4000]).get()
                             - (a + b)[100:4000]).max()))
