/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports that a daemon is ready: to the program that started it, and to a service manager, as
 * sd_notify(3) of systemd describes. The protocol of sd_notify is one datagram, so no library is
 * needed.
 */
#ifndef BASE_SERVICE_H
#define BASE_SERVICE_H

/* Writes `text` to `fd` (option --ready-fd; -1: none) and closes it. Does not close descriptors 0,
 * 1 and 2, because a later socket would get their number. Then sends READY to the service manager
 * if NOTIFY_SOCKET has the manager's address: a path, or '@' and an abstract name. Removes this
 * variable, so that no child process reports again. Logs failures. Call it before other threads
 * read the environment. */
void service_ready(int fd, const char *text);

#endif
