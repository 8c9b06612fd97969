/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of NIC, PCIe, crossbar and sharing; others: parameter_list_net.h.
 *
 * N(group, name, unit, default, low, high, mark, item, text): a number; the name ends in its unit.
 * S(group, name, choices, default, mark, item, text): a switch; the value is an index in choices.
 * Marks: T stated by a source, D derived from stated figures, A assumed, F free (calibrated). S
 * rows are settings that a source leaves open; their text names the sentence that supports the
 * default. */
#ifndef MODEL_PARAMETER_LIST_H
#define MODEL_PARAMETER_LIST_H

#define MODEL_NIC_PARAMETERS(N, S)                                                                 \
	N(nic, clock_mhz, "MHz", 250, 10, 5000, 'T', "C-39", "clock of the engines")               \
	N(nic, datapath_bytes, "B", 16, 8, 1024, 'T', "C-39", "bytes of the datapath a cycle")     \
	N(nic, mtu_bytes, "B", 128, 16, 4096, 'T', "C-41", "largest payload of a packet")          \
	N(nic, request_bytes, "B", 128, 16, 4096, 'T', "C-40", "bytes that one read requests")     \
	N(nic, header_bytes, "B", 16, 8, 64, 'T', "C-08", "header of a packet")                    \
	N(nic, process_cycles, "cycles", 1, 0, 64, 'T', "C-35",                                    \
	  "processing of a packet beside header and data")                                         \
	N(nic, tags, "", 32, 1, 1024, 'T', "C-34", "reads that may be outstanding")                \
	N(nic, memory_read_cycles, "cycles", 130, 5, 10000, 'T', "C-43",                           \
	  "from the request of 1 byte to its return, at 250 MHz whatever the clock is")            \
	N(nic, nap_engine_cycles, "cycles", 35, 8, 1000, 'T', "C-43", "both engines, NAP")         \
	N(nic, put_engine_cycles, "cycles", 48, 8, 1000, 'T', "C-43", "both engines, PUT")         \
	N(nic, extract_bytes, "B", 8, 1, 1024, 'T', "C-25", "descriptor bytes extracted a cycle")  \
	N(nic, nap_max_bytes, "B", 2048, 1, 4096, 'T', "C-17", "largest NAP")                      \
	N(nic, doorbell_ns, "ns", 200, 0, 100000, 'T', "C-06", "Oc: the processor's store")        \
	N(nic, hop_ns, "ns", 240, 0, 100000, 'T', "C-06", "r: processing and wire of one hop")     \
	N(nic, hops, "", 1, 0, 64, 'A', "C-42", "hops between the two ends of the measurement")    \
	N(nic, host_see_ns, "ns", 90, 0, 100000, 'F', "C-42",                                      \
	  "write into host memory until the poll sees it; set from the value of NAP-imm at 1 B")   \
	N(nic, event_cycles, "cycles", 13, 0, 1000, 'D', "C-42",                                   \
	  "event of a NAP: 48 - 35 cycles, because PUT - NAP-imm is one read exactly")             \
	N(nic, indirect_cycles, "cycles", 21, 0, 1000, 'D', "C-42", "NAP-ind - PUT at 1 B: 84 ns") \
	N(nic, turnaround_cycles, "cycles", 19, 0, 1000, 'D', "C-42", "GET - PUT at 1 B: 76 ns")   \
	N(nic, descriptor_bytes, "B", 64, 16, 1024, 'A', "C-23", "descriptor with one address")    \
	S(nic, base, "value|row", 1, 'D', "C-42",                                                  \
	  "constants beside host_see_ns: none (only stated figures) or those of the 1-byte row")   \
	S(nic, nap_overlap, "pieces|whole|serial", 1, 'A', "C-17",                                 \
	  "whole: a NAP is one packet, with one buffer and one event granted before its upload")   \
	S(nic, forward, "beats|packets", 0, 'A', "C-05",                                           \
	  "beats: eq. (1) counts the bytes of a message once, not once a stage")                   \
	S(nic, host_overlap, "no|yes", 0, 'A', "C-03",                                             \
	  "no: 3.19 of 3.20 GB/s is what one latency of 1.76 us leaves of 2 MB")                   \
	S(nic, event_wait, "byte|event", 0, 'A', "C-05",                                           \
	  "byte: eq. (1) ends with the last byte at the receiver (PUT, GET; a NAP has its event)") \
	S(nic, completion_header, "12|16", 1, 'T', "C-35",                                         \
	  "16: eq. (2) counts one cycle of header and one of processing a returned packet")        \
	N(nic, immediate_offset_bytes, "B", 32, 0, 1024, 'A', "C-23",                              \
	  "immediate data start here in the descriptor: after header and destination lists")       \
	N(pcie, pcie_generation, "", 2, 1, 5, 'T', "C-39", "generation of the link")               \
	N(pcie, pcie_lanes, "", 8, 1, 16, 'T', "C-39", "lanes of the link: 1, 2, 4, 8 or 16")      \
	N(pcie, mps_bytes, "B", 128, 64, 4096, 'A', "C-40", "largest payload of a PCIe write")     \
	N(pcie, boundary_bytes, "B", 64, 16, 4096, 'A', "C-33",                                    \
	  "completions end at multiples of this address")                                          \
	N(pcie, read_slots, "", 64, 1, 4096, 'A', "C-34",                                          \
	  "completions that host memory prepares at a time")                                       \
	N(pcie, source_offset_bytes, "B", 0, 0, 4095, 'A', "C-24",                                 \
	  "address of the data in their page")                                                     \
	N(pcie, target_offset_bytes, "B", 0, 0, 4095, 'A', "C-29",                                 \
	  "address of a PUT's target in its page; a NAP's buffer is aligned")                      \
	N(pcie, buffer_packets, "", 64, 1, 65536, 'A', "C-31",                                     \
	  "packets that fit in front of an engine's stage")

#define MODEL_CROSSBAR_PARAMETERS(N, S)                                                     \
	N(crossbar, ports, "", 4, 1, 64, 'T', "C-44", "inputs and outputs")                 \
	N(crossbar, channels, "", 2, 1, 64, 'T', "C-44", "virtual channels of an input")    \
	N(crossbar, depth, "", 32, 1, 65536, 'A', "C-08",                                   \
	  "packets in the queue of a channel; 32: it holds one packet of 4096 B")           \
	N(crossbar, message_packets, "", 1, 1, 1024, 'A', "C-44", "packets of a PUT")       \
	N(crossbar, load_permille, "permille", 500, 1, 1000, 'A', "C-44",                   \
	  "offered load as a share of the link")                                            \
	N(crossbar, idle_cycles, "cycles", 440, 0, 100000, 'D', "C-42",                     \
	  "latency below every curve: a PUT of 1 B")                                        \
	S(crossbar, allocator, "outputs|islip|maximal", 0, 'A', "C-44",                     \
	  "outputs: each free output chooses round robin among the inputs")                 \
	S(crossbar, source, "in-order|any-order", 0, 'A', "C-44",                           \
	  "in-order: the send engine is one pipeline that stops at a queue without credit") \
	S(crossbar, own_port, "no|yes", 0, 'A', "C-44", "no: a NIC sends to other NICs")    \
	S(crossbar, get_channel, "yes|no", 0, 'T', "C-22", "GET has a channel of its own")

#define MODEL_SHARE_PARAMETERS(N, S)                                                        \
	N(share, functions, "", 8, 1, 64, 'T', "C-36", "functions: PF and VF0 .. VF6")      \
	N(share, fifo_depth, "", 32, 1, 1024, 'T', "C-15", "doorbells that wait in a FIFO") \
	N(share, largest_bytes, "B", 4096, 1, 1 << 26, 'A', "C-08",                         \
	  "sizes are uniform from 1 B to this; 4096: the largest payload of a packet")      \
	N(share, tolerance_permille, "permille", 50, 1, 1000, 'A', "C-37",                  \
	  "shares are level when none is further off")                                      \
	N(share, first_weight, "", 4, 1, 64, 'A', "C-37",                                   \
	  "weight of function 0 under policy=weights; the others have 1")                   \
	N(share, quantum_bytes, "B", 2048, 1, 1 << 26, 'A', "C-37",                         \
	  "bytes of a quantum by bytes and weights")                                        \
	S(share, policy, "message|packet|bytes|weights|none", 0, 'A', "C-37",               \
	  "message: fair over the FIFOs, and yet strong fluctuation at the start")          \
	S(share, arrival, "random|saturated", 0, 'A', "C-37",                               \
	  "random: random-size PUTs to random functions; a full FIFO stops the software")

#endif
