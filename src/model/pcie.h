/* SPDX-License-Identifier: BSD-3-Clause */
/* PCIe as the NIC sees it: the packets of an access, and their time on the link. */
#ifndef MODEL_PCIE_H
#define MODEL_PCIE_H

#include "model/parameter.h"

#define MODEL_PCIE_PAGE    4096 /* no packet crosses a multiple of this */
#define MODEL_PCIE_FRAMING 8    /* bytes: start, sequence number, checksum, end */
#define MODEL_PCIE_HEADER  12   /* bytes: completion, or write below 4 GiB */

/* Returns the bytes of an access's first packet: at most `most`, never across a page, and ending at
 * a multiple of `boundary` unless it is the last. `boundary` <= `most`; both are powers of two. */
uint64_t model_pcie_piece(uint64_t address, uint64_t bytes, uint64_t most, uint64_t boundary);

/* Returns the number of packets of an access. */
uint64_t model_pcie_packets(uint64_t address, uint64_t bytes, uint64_t most, uint64_t boundary);

/* Returns the time in ps of a packet with `payload` bytes on the link. */
uint64_t model_pcie_link_ps(const struct model_parameters *p, uint64_t payload);

/* Returns data's share of the link in ppm, with `payload` bytes per packet. */
uint64_t model_pcie_efficiency_ppm(uint64_t payload);

/* Returns a packet's cycles in the datapath: header, data and processing; header and data use
 * separate beats. */
uint64_t model_pcie_cycles(const struct model_parameters *p, uint64_t payload,
			   uint64_t bytes_a_cycle);

/* Returns a read completion's cycles, with the header that completion_header selects. */
uint64_t model_pcie_completion_cycles(const struct model_parameters *p, uint64_t payload,
				      uint64_t bytes_a_cycle);

/* Returns R(M): the cycles of all completions of an aligned read of `bytes`. */
uint64_t model_pcie_return_cycles(const struct model_parameters *p, uint64_t bytes);

/* Returns the largest payload of a completion: the least of MTU, request and MPS. */
uint64_t model_pcie_payload(const struct model_parameters *p);

#endif
