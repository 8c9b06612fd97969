/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <unistd.h>

#include <dxp/status.h>

#include "cmd/dxp/vf.h"
#include "cmd/web/sources.h"
#include "link/local.h"

/* Reads all rows of a NIC. Returns false if its program has exited or does not answer. */
static bool nic_read(struct vf_nic *nic)
{
	static const struct offer_scope any_scope = {.only = false};
	struct attach_request next = {.type = ATTACH_LIST};
	char path[OFFER_PATH_BYTES];
	struct attach_answer a;
	bool good = true, more = true;
	int fd;

	if (!offer_socket_path(nic->offered.folder, any_scope, path) ||
	    local_connect(path, S_NS, &fd) != DXP_OK)
		return false;
	while (good && more) {
		good = vf_request(fd, &next, &a) == DXP_OK && a.status == DXP_OK;
		more = good && vf_rows_add(nic, &a, &next);
	}
	close(fd);
	return good;
}

void web_functions_poll(void *context)
{
	struct web_state *state = context;
	struct offer_folder *folders = calloc(WEB_NICS, sizeof(*folders));
	const uint32_t count = folders ? offer_folders(folders, WEB_NICS) : 0;
	json_t *all = json_array();

	for (uint32_t i = 0; i < count; i++) {
		struct vf_nic *nic = calloc(1, sizeof(*nic));
		if (nic) {
			nic->offered = folders[i];
			if (nic_read(nic))
				json_array_append_new(all, vf_json(nic));
		}
		free(nic);
	}
	free(folders);
	web_state_document(state, WEB_FUNCTIONS, web_text_json(json_pack("{s:o}", "nics", all)));
}
