# SPDX-License-Identifier: BSD-3-Clause
"""Buffers, maps, images, events and binaries through pyopencl, over all devices of the platform.
Prints results that must be equal on all platforms."""
import hashlib
import numpy as np
import pyopencl as cl

MF = cl.mem_flags
devices = cl.get_platforms()[0].get_devices()
context = cl.Context(devices)
queues = [cl.CommandQueue(context, d, cl.command_queue_properties.PROFILING_ENABLE)
          for d in devices]


def say(name, data):
    print(name, hashlib.md5(np.ascontiguousarray(data).tobytes()).hexdigest())


SOURCE = """
__kernel void pour(__global uint *a, __local uint *l, uint n) {
  size_t i = get_global_id(0), k = get_local_id(0);
  l[k] = a[i] + n;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[i] = l[get_local_size(0) - 1 - k] * 3;
}
__kernel void turn(read_only image2d_t in, write_only image2d_t out) {
  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imageui(out, at, read_imageui(in, s, (int2)(at.y, at.x)));
}
"""
program = cl.Program(context, SOURCE).build()
host = np.arange(4096, dtype=np.uint32)
there = cl.Buffer(context, MF.READ_WRITE | MF.COPY_HOST_PTR, hostbuf=host)
event = None
for step in range(12):  # data moves back and forth between the devices
    event = program.pour(queues[step % len(queues)], (4096,), (64,), there, cl.LocalMemory(256),
                         np.uint32(step), wait_for=[event] if event else None)
event.wait()
assert event.profile.end >= event.profile.start
out = np.empty_like(host)
cl.enqueue_copy(queues[-1], out, there)
say("pour", out)

mapped, _ = cl.enqueue_map_buffer(queues[0], there, cl.map_flags.READ | cl.map_flags.WRITE, 0,
                                  (4096,), np.uint32)
mapped[:100] = 5
mapped.base.release(queues[0])
cl.enqueue_copy(queues[-1], out, there)
say("map", out)

cl.enqueue_fill_buffer(queues[-1], there, np.uint32(9), 400, 4000)
part = there[1024:8192]
box = np.zeros((16, 16), dtype=np.uint8)
cl.enqueue_copy(queues[0], box, part, buffer_origin=(8, 1, 0), host_origin=(0, 0),
                region=(16, 16, 1), buffer_pitches=(100,), host_pitches=(16,))
say("box", box)

picture = np.random.default_rng(3).integers(0, 256, (64, 64, 4)).astype(np.uint8)
fmt = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.UNSIGNED_INT8)
first = cl.Image(context, MF.READ_ONLY | MF.COPY_HOST_PTR, fmt, shape=(64, 64), hostbuf=picture)
second = cl.Image(context, MF.WRITE_ONLY, fmt, shape=(64, 64))
for queue in queues:
    program.turn(queue, (64, 64), None, first, second).wait()
back = np.empty_like(picture)
cl.enqueue_copy(queues[0], back, second, origin=(0, 0), region=(64, 64))
print("turned", bool((back == picture.transpose(1, 0, 2)).all()))

again = cl.Program(context, devices, program.get_info(cl.program_info.BINARIES)).build()
again.pour(queues[0], (4096,), (64,), there, cl.LocalMemory(256), np.uint32(1)).wait()
cl.enqueue_copy(queues[0], out, there)
say("binary", out)

user = cl.UserEvent(context)
copied = cl.enqueue_copy(queues[-1], out, there, wait_for=[user], is_blocking=False)
user.set_status(cl.command_execution_status.COMPLETE)
copied.wait()
say("user", out)
try:
    cl.Program(context, "__kernel void f(__global int *a) { a[0] = nothing; }").build()
except cl.RuntimeError as error:
    print("refused", "nothing" in str(error))
