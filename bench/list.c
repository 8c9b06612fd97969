/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <stddef.h>

const struct bench_entry bench_list[] = {
	{"latency", "round trips of PUT, GET and NAP beside raw UDP and other libraries",
	 bench_latency},
	{"stream", "bandwidth of PUT and GET beside a raw GSO+GRO stream and TCP", bench_stream},
	{"loss", "goodput and ping-pong at 0 to 10 % loss beside TCP and others", bench_loss},
	{"rate", "64-byte NAPs per second to one peer", bench_rate},
	{"incast", "N senders to one receiver through a 1 Gb/s port", bench_incast},
	{"slots", "16 xPUs of one daemon through one uplink of 1 Gb/s", bench_slots},
	{"peers", "10,000 open sessions: memory, set-up rate, PUT among them", bench_peers},
	{"secure", "what the protection of packets costs: PUT, NAP, handshakes", bench_secure},
	{"sim", "the transport on simulated networks: crowds, and goodput against loss", bench_sim},
	{"nic", "NIC functions of one machine beside bare memory and shared-memory libraries",
	 bench_nic},
	{"inc", "MPI_Allreduce over switches that compute, beside Open MPI over TCP", bench_inc},
	{"classify", "the classifier over two xPUs beside local OpenCL", bench_classify},
	{"inc-hop", "one hop to a computing switch and back, beside a bare echo", bench_inc_hop},
	{"inc-sim", "in-network allreduce to 4096 simulated hosts beside recursive doubling",
	 bench_inc_simulated},
	{"bridge", "memory behind DMA engines: local, and bridged to the network", bench_bridge},
	{"bridge-sim", "the bridge to DMA engines between stages of any speed, simulated",
	 bench_bridge_sim},
	{"direct", "xPU to xPU directly, beside the way through the host", bench_direct},
	{"collective", "allreduce among 2 to 8 xPUs, beside the way through the host",
	 bench_collective},
	{"registers", "1 to 1024 accesses to CFG registers beside a raw UDP round trip",
	 bench_registers},
	{"opencl", "OpenCL on two xPUs beside local PoCL: commands, bytes, builds", bench_opencl},
	{"join", "1,000 and 4,096 nodes that join a fabric, with SQLite or etcd", bench_join},
	{"rv32", "kernels on engine rv32 beside qemu-riscv32, one lane and PoCL; posting",
	 bench_rv32},
	{NULL, NULL, NULL},
};
