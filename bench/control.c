/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the control socket between near and far process. Each module links this file
 * too. */
#include <sys/socket.h>

#include "bench/peer.h"

bool control_write(int control, const void *data, size_t bytes)
{
	return send(control, data, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

bool control_read(int control, void *data, size_t bytes)
{
	return recv(control, data, bytes, MSG_WAITALL) == (ssize_t)bytes;
}
