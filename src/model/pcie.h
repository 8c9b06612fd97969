/* SPDX-License-Identifier: BSD-3-Clause */
/* PCIe as the NIC uses it: the packets of an access, and their time on the link. */
#ifndef MODEL_PCIE_H
#define MODEL_PCIE_H

#include "model/parameter.h"

#define MODEL_PCIE_PAGE    4096 /* bytes: no packet crosses a multiple of this address */
#define MODEL_PCIE_FRAMING 8    /* bytes of each packet: start, sequence number, checksum, end */
#define MODEL_PCIE_HEADER  12   /* bytes of the header of a completion, or of a write below 4 GiB */

/* Returns the number of bytes in the first packet of an access. A packet has at most `most` bytes,
 * and does not cross a page. Except for the last packet, it ends at a multiple of `boundary`.
 * `boundary` <= `most`; both are powers of two. */
uint64_t model_pcie_piece(uint64_t address, uint64_t bytes, uint64_t most, uint64_t boundary);

/* Returns the number of packets of an access. */
uint64_t model_pcie_packets(uint64_t address, uint64_t bytes, uint64_t most, uint64_t boundary);

/* Returns the time in ps that a packet with `payload` bytes takes on the link. */
uint64_t model_pcie_link_ps(const struct model_parameters *p, uint64_t payload);

/* Returns the share of the link that payload gets, in ppm, with `payload` bytes in each packet. */
uint64_t model_pcie_efficiency_ppm(uint64_t payload);

/* Returns the number of cycles that a packet takes in the datapath, for header, data and
 * processing. Header and data use separate beats. */
uint64_t model_pcie_cycles(const struct model_parameters *p, uint64_t payload,
			   uint64_t bytes_a_cycle);

/* Returns the number of cycles of a read completion. p->completion_header selects a header of 12 or
 * 16 bytes. */
uint64_t model_pcie_completion_cycles(const struct model_parameters *p, uint64_t payload,
				      uint64_t bytes_a_cycle);

/* Returns R(M): the number of cycles of all completions for an aligned read of `bytes`. */
uint64_t model_pcie_return_cycles(const struct model_parameters *p, uint64_t bytes);

/* Returns the largest payload of a completion in bytes: the smallest of MTU, request size and
 * MPS. */
uint64_t model_pcie_payload(const struct model_parameters *p);

#endif
