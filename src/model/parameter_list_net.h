/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the parameters of LogGP, topologies, tags, allreduce, bridge and loss. The format is that
 * of parameter_list.h. */
#ifndef MODEL_PARAMETER_LIST_NET_H
#define MODEL_PARAMETER_LIST_NET_H

#define MODEL_LOGGP_PARAMETERS(N, S)                                                               \
	N(loggp, descriptor_ns, "ns", 528, 0, 1000000, 'T', "C-06",                                \
	  "Ods: doorbell and descriptor read")                                                     \
	N(loggp, receive_ns, "ns", 160, 0, 1000000, 'T', "C-06", "Odr: the receiver's processing") \
	N(loggp, gap_ps, "ps", 250, 1, 1000000, 'T', "C-06", "G: time of a byte")                  \
	N(loggp, message_bytes, "B", 2048, 1, 1 << 30, 'T', "C-06", "M: bytes of a message")

#endif
