/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the two parts of `dxp vf`: vf.c queries the NICs of this machine, vf_show.c prints the
 * answers. */
#ifndef CMD_DXP_VF_H
#define CMD_DXP_VF_H

#include <jansson.h>
#include <stdbool.h>

#include "nic/limits.h"
#include "node/offer_folder.h"
#include "wire/attach.h"

struct vf_nic {
	struct offer_folder offered;
	uint64_t malformed;
	struct attach_row rows[NIC_USERS];
	unsigned row_count;
};

/* vf_export.c: gives functions of the NICs `nics` ("xpu1,xpu2"), each with `memory_bytes` of
 * registered memory, to the virtual machine that `program` starts. Returns the program's exit
 * status. */
int vf_export(const char *nics, uint64_t memory_bytes, char **program);

void vf_table_head(void);
void vf_table(const struct vf_nic *nic);
json_t *vf_json(const struct vf_nic *nic);

void vf_registers(const struct attach_answer *areas);
json_t *vf_registers_json(const struct attach_answer *areas);

#endif
