/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the parts of `dxp vf`. vf.c finds the NICs of this machine, vf_read.c queries one NIC.
 * vf_json.c and vf_show.c convert the answers. */
#ifndef CMD_DXP_VF_H
#define CMD_DXP_VF_H

#include <jansson.h>
#include <stdbool.h>

#include "base/util.h"
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
#define VF_ANSWER_NS (5 * S_NS) /* ns; time limit of a request */

/* Sends a request to a NIC and receives the answer. Errors: DXP_ECLOSED: the NIC's program has
 * exited; DXP_ETIMEDOUT; DXP_EBUSY: too many requests now; DXP_EMALFORMED. */
int vf_request(int fd, const struct attach_request *request, struct attach_answer *answer);

/* Appends the rows of an answer to `nic`; the answer is that of an ATTACH_LIST request. Sets `next`
 * to the position after these rows. Returns false if there are no more rows. */
bool vf_rows_add(struct vf_nic *nic, const struct attach_answer *answer,
		 struct attach_request *next);

/* Return the word for a row's state or priority. */
const char *vf_state_name(const struct attach_row *r);
const char *vf_priority_name(const struct attach_row *r);

void vf_table_head(void);
void vf_table(const struct vf_nic *nic);
json_t *vf_json(const struct vf_nic *nic);

void vf_registers(const struct attach_answer *areas);
json_t *vf_registers_json(const struct attach_answer *areas);

#endif
