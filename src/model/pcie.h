/* SPDX-License-Identifier: BSD-3-Clause */
/* PCIe as the NIC uses it: packets of an access, and their time on the link. */
#ifndef MODEL_PCIE_H
#define MODEL_PCIE_H

#include "model/parameter.h"

#define MODEL_PCIE_PAGE    4096 /* no packet crosses a multiple of this address */
#define MODEL_PCIE_FRAMING 8    /* per packet: start, sequence number, checksum, end */
#define MODEL_PCIE_HEADER  12   /* header of a completion, or of a write below 4 GiB */

/* Bytes of an access' first packet: at most `most`, within a page, and up to a multiple of
 * `boundary` unless it is the last. `boundary` <= `most`; both are powers of two. */
uint64_t model_pcie_piece(uint64_t address, uint64_t bytes, uint64_t most, uint64_t boundary);

uint64_t model_pcie_packets(uint64_t address, uint64_t bytes, uint64_t most, uint64_t boundary);

/* Returns the time of a packet with `payload` bytes. */
uint64_t model_pcie_link_ps(const struct model_parameters *p, uint64_t payload);

/* Returns payload's share of the link, with `payload` bytes per packet. */
uint64_t model_pcie_efficiency_ppm(uint64_t payload);

/* Returns the cycles in the datapath for header, data and processing; header and data use separate
 * beats. */
uint64_t model_pcie_cycles(const struct model_parameters *p, uint64_t payload,
			   uint64_t bytes_a_cycle);

/* Returns the cycles of a completion; p->completion_header selects 12 or 16 bytes. */
uint64_t model_pcie_completion_cycles(const struct model_parameters *p, uint64_t payload,
				      uint64_t bytes_a_cycle);

/* Returns R(M), the cycles of all completions of an aligned read of `bytes`. */
uint64_t model_pcie_return_cycles(const struct model_parameters *p, uint64_t bytes);

/* Returns the largest payload of a completion: the least of MTU, request size and MPS. */
uint64_t model_pcie_payload(const struct model_parameters *p);

#endif
