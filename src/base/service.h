/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports that a daemon is ready, to its starter and to a service manager, as sd_notify(3) of
 * systemd. That is one datagram, so no library is needed. */
#ifndef BASE_SERVICE_H
#define BASE_SERVICE_H

/* Writes `text` to `fd` (--ready-fd; -1: none) and closes it, except 0, 1 and 2, whose number a
 * socket would get. Then sends READY to NOTIFY_SOCKET (a path, or '@' and an abstract name), and
 * removes this variable, so that no child reports again. Logs failures. Call it before other
 * threads read the environment. */
void service_ready(int fd, const char *text);

#endif
