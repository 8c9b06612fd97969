/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/service.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/log.h"

#define READY "READY=1"

/* False: errno. */
static bool datagram_send(const struct sockaddr_un *to, socklen_t bytes)
{
	int fd = descriptor_raise(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));

	if (fd < 0)
		return false;
	bool sent =
		sendto(fd, READY, sizeof(READY) - 1, MSG_NOSIGNAL, (const void *)to, bytes) >= 0;
	int error = errno;
	close(fd);
	errno = error;
	return sent;
}

static void manager_notify(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *name = getenv("NOTIFY_SOCKET");

	if (!name)
		return;
	size_t bytes = strlen(name);
	if ((name[0] != '/' && name[0] != '@') || bytes < 2 || bytes >= sizeof(to.sun_path)) {
		log_error("NOTIFY_SOCKET is '%s', which is no path and no abstract name; the "
			  "service manager does not learn that this daemon is ready",
			  name);
	} else {
		memcpy(to.sun_path, name, bytes);
		if (name[0] == '@')
			to.sun_path[0] = '\0';
		if (!datagram_send(&to,
				   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes)))
			log_error("cannot report to the service manager at %s: %s", name,
				  strerror(errno));
	}
	unsetenv("NOTIFY_SOCKET");
}

void service_ready(int fd, const char *text)
{
	if (fd >= 0 && !descriptor_write(fd, text, strlen(text)))
		log_warn("file descriptor %d (--ready-fd) has no reader", fd);
	if (fd >= DESCRIPTOR_FIRST)
		close(fd);
	manager_notify();
}
