/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/pcie.h"

#include "base/util.h"

uint64_t model_pcie_piece(uint64_t address, uint64_t bytes, uint64_t most, uint64_t boundary)
{
	uint64_t piece = most - address % boundary;

	piece = min_u64(piece, MODEL_PCIE_PAGE - address % MODEL_PCIE_PAGE);
	return min_u64(piece, bytes);
}

uint64_t model_pcie_packets(uint64_t address, uint64_t bytes, uint64_t most, uint64_t boundary)
{
	uint64_t count = 0;

	for (; bytes > 0; count++) {
		uint64_t piece = model_pcie_piece(address, bytes, most, boundary);
		address += piece;
		bytes -= piece;
	}
	return count;
}

uint64_t model_pcie_link_ps(const struct model_parameters *p, uint64_t payload)
{
	uint64_t bytes = payload + MODEL_PCIE_HEADER + MODEL_PCIE_FRAMING;

	return bytes * 1000000 / (uint64_t)model_pcie_rate(p);
}

uint64_t model_pcie_efficiency_ppm(uint64_t payload)
{
	return payload * 1000000 / (payload + MODEL_PCIE_HEADER + MODEL_PCIE_FRAMING);
}

static uint64_t beats(uint64_t bytes, uint64_t width)
{
	return (bytes + width - 1) / width;
}

uint64_t model_pcie_cycles(const struct model_parameters *p, uint64_t payload,
			   uint64_t bytes_a_cycle)
{
	uint64_t header = beats((uint64_t)p->header_bytes, (uint64_t)p->datapath_bytes);

	return header + max_u64(1, beats(payload, bytes_a_cycle)) + (uint64_t)p->process_cycles;
}

uint64_t model_pcie_completion_cycles(const struct model_parameters *p, uint64_t payload,
				      uint64_t bytes_a_cycle)
{
	uint64_t with = MODEL_PCIE_HEADER + payload, first = (uint64_t)p->datapath_bytes;

	if (p->completion_header == MODEL_COMPLETION_16)
		return model_pcie_cycles(p, payload, bytes_a_cycle);
	/* The header's beat also carries data; the rest follows at the rate of extraction. */
	return 1 + (with > first ? beats(with - first, bytes_a_cycle) : 0) +
	       (uint64_t)p->process_cycles;
}

uint64_t model_pcie_payload(const struct model_parameters *p)
{
	return min_u64(min_u64((uint64_t)p->mtu_bytes, (uint64_t)p->request_bytes),
		       (uint64_t)p->mps_bytes);
}

uint64_t model_pcie_return_cycles(const struct model_parameters *p, uint64_t bytes)
{
	uint64_t most = model_pcie_payload(p), width = (uint64_t)p->datapath_bytes;
	uint64_t cycles = bytes / most * model_pcie_completion_cycles(p, most, width);

	if (bytes % most)
		cycles += model_pcie_completion_cycles(p, bytes % most, width);
	return cycles;
}
