/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of LogGP, topologies, tags, allreduce, bridge and loss, as in parameter_list.h. */
#ifndef MODEL_PARAMETER_LIST_NET_H
#define MODEL_PARAMETER_LIST_NET_H

#define MODEL_LOGGP_PARAMETERS(N, S)                                                               \
	N(loggp, descriptor_ns, "ns", 528, 0, 1000000, 'T', "C-06",                                \
	  "Ods: doorbell and descriptor read")                                                     \
	N(loggp, receive_ns, "ns", 160, 0, 1000000, 'T', "C-06", "Odr: the receiver's processing") \
	N(loggp, gap_ps, "ps", 250, 1, 1000000, 'T', "C-06", "G: time of a byte")                  \
	N(loggp, message_bytes, "B", 2048, 1, 1 << 30, 'T', "C-06", "M: bytes of a message")

#define MODEL_TOPOLOGY_PARAMETERS(N, S) \
	N(topology, nodes, "", 1024, 2, 65536, 'T', "C-07", "P: processors of a network")

/* frame_bytes: Ethernet 14, IP 20, UDP 8, BTH 12, the sources' header 15, ICRC 4, FCS 4, preamble
 * and gap 20. Free values (F) fit a processor of 2019 and its NIC. */
#define MODEL_ALLREDUCE_PARAMETERS(N, S)                                                           \
	N(allreduce, sockets, "", 2, 1, 8, 'T', "N-11", "processor sockets of a host")             \
	N(allreduce, net_rate_mbps, "Mb/s", 25000, 10, 1000000, 'T', "N-11", "rate of a port")     \
	N(allreduce, frame_bytes, "B", 97, 24, 1000, 'T', "N-03", "wire bytes beside the payload") \
	N(allreduce, datagram_bytes, "B", 8, 0, 1000, 'T', "N-03",                                 \
	  "more of them in UD, towards and from switches")                                         \
	N(allreduce, tor_hosts, "", 8, 1, 4096, 'A', "N-09", "hosts at a ToR")                     \
	N(allreduce, cable_ps, "ps", 25000, 0, 1000000000, 'A', "N-09", "5 m of cable")            \
	N(allreduce, forward_ps, "ps", 400000, 0, 1000000000, 'A', "N-02",                         \
	  "a switch forwards a packet")                                                            \
	N(allreduce, mpi_byte_ps, "ps", 60, 0, 1000000, 'A', "N-09",                               \
	  "O: copy and sum of a byte at either end of a message: 16 GB/s")                         \
	N(allreduce, mpi_overhead_ps, "ps", 250000, 1, 100000000, 'F', "N-11",                     \
	  "o: the processor's part in a message at either end")                                    \
	N(allreduce, intra_ps, "ps", 350000, 1, 100000000, 'F', "N-11",                            \
	  "shared memory, within a socket")                                                        \
	N(allreduce, inter_ps, "ps", 700000, 1, 100000000, 'F', "N-11",                            \
	  "shared memory, across sockets")                                                         \
	N(allreduce, nic_gap_ps, "ps", 30000, 1, 100000000, 'F', "N-11",                           \
	  "g: a NIC's time for a message beside its bytes")                                        \
	N(allreduce, nic_latency_ps, "ps", 600000, 1, 100000000, 'F', "N-11",                      \
	  "between processor and wire, at either end")                                             \
	N(allreduce, compute_ps, "ps", 300000, 1, 1000000000, 'F', "N-09",                         \
	  "a switch adds a packet to its sum")                                                     \
	S(allreduce, spine, "always|needed", 0, 'A', "N-06",                                       \
	  "always: MRR chooses a spine for every group; ToRs send it their partial results")       \
	S(allreduce, nic_service, "sum|max", 0, 'A', "N-11",                                       \
	  "sum: gap and wire time of a message follow one another, as g and G of LogGP")           \
	S(allreduce, figure, "mean|last", 0, 'T', "N-11",                                          \
	  "mean: osu_allreduce prints the mean over the ranks")

/* Measured by the source for each stage alone. */
#define MODEL_BRIDGE_PARAMETERS(N, S)                                                            \
	N(bridge, read_kbps, "kB/s", 9162100, 1, 1000000000, 'T', "S-07", "READ of the network") \
	N(bridge, read_latency_ns, "ns", 0, 0, 1000000000, 'A', "S-06",                          \
	  "from a READ to its first byte, which other READs hide; none is stated")               \
	N(bridge, write_kbps, "kB/s", 11927300, 1, 1000000000, 'T', "S-07", "WRITE")             \
	N(bridge, link_kbps, "kB/s", 7877000, 1, 1000000000, 'T', "S-07", "PCIe Gen3 x8")        \
	N(bridge, memory_kbps, "kB/s", 12800000, 1, 1000000000, 'T', "S-07", "device memory")    \
	N(bridge, dma_in_kbps, "kB/s", 6745200, 1, 1000000000, 'T', "S-08",                      \
	  "controller, host to device")                                                          \
	N(bridge, dma_out_kbps, "kB/s", 5872600, 1, 1000000000, 'T', "S-08",                     \
	  "controller, device to host")                                                          \
	N(bridge, dma_through_kbps, "kB/s", 4521300, 1, 1000000000, 'T', "S-08",                 \
	  "both controllers, through the core")                                                  \
	N(bridge, control_ns, "ns", 57000, 0, 1000000000, 'D', "S-09",                           \
	  "control of a piece: set from rNode to FPGA alone")                                    \
	N(bridge, ring_buffers, "", 8, 1, 64, 'T', "S-02", "entries of a ring")                  \
	N(bridge, buffer_bytes, "B", 8388608, 65536, 67108864, 'T', "S-09", "bytes of an entry") \
	N(bridge, transfer_bytes, "B", 536870912, 4096, 4294967296, 'T', "S-09",                 \
	  "bytes of a transfer")                                                                 \
	N(bridge, reads, "", 1, 1, 64, 'T', "S-06", "READ requests in flight")

#define MODEL_LOSS_PARAMETERS(N, S)                                                        \
	N(loss, loss_ppm, "ppm", 10000, 0, 500000, 'T', "X-15", "packets lost")            \
	N(loss, loss_bytes, "B", 1048576, 1, 16777216, 'T', "X-15", "bytes of a transfer") \
	N(loss, loss_timeout, "", 14, 8, 16, 'A', "X-15",                                  \
	  "n of a time-out of 4.096 us x 2^n, go-back-N: 14, the usual one of RoCE")       \
	N(loss, xpu_mhz, "MHz", 200, 1, 5000, 'T', "X-16", "clock of the xPU")             \
	N(loss, xpu_mbps, "Mb/s", 10000, 1, 1000000, 'T', "X-14", "rate of its port")

#endif
