/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/ucx_end.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

int ucx_complain(const char *what, ucs_status_t status)
{
	fprintf(stderr, "dxp bench: UCX %s: %s\n", what, ucs_status_string(status));
	return DXP_EIO;
}

ucs_status_t ucx_worker_open(const struct peer_end *e, struct ucx_end *u, uint64_t features,
			     const char *interface)
{
	ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = features};
	ucp_worker_params_t worker = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
				      .thread_mode = UCS_THREAD_MODE_SINGLE};
	ucp_config_t *config;
	ucs_status_t status = ucp_config_read(NULL, NULL, &config);

	if (status != UCS_OK)
		return status;
	ucp_config_modify(config, "TLS", e->variant);
	if (interface)
		ucp_config_modify(config, "NET_DEVICES", interface);
	status = ucp_init(&params, config, &u->context);
	ucp_config_release(config);
	return status == UCS_OK ? ucp_worker_create(u->context, &worker, &u->worker) : status;
}

ucs_status_t ucx_meet(const struct peer_end *e, struct ucx_end *u, struct ucx_hello *own,
		      struct ucx_hello *theirs)
{
	ucp_address_t *address;
	size_t bytes;
	ucs_status_t status = ucp_worker_get_address(u->worker, &address, &bytes);

	if (status != UCS_OK)
		return status;
	if (bytes > sizeof(own->address))
		return UCS_ERR_BUFFER_TOO_SMALL;
	memcpy(own->address, address, bytes);
	ucp_worker_release_address(u->worker, address);
	if (!control_write(e->control, own, sizeof(*own)) ||
	    !control_read(e->control, theirs, sizeof(*theirs)))
		return UCS_ERR_IO_ERROR;
	const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
					.address = (const ucp_address_t *)(void *)theirs->address};
	return ucp_ep_create(u->worker, &params, &u->ep);
}
