/* SPDX-License-Identifier: BSD-3-Clause */
/* The service manager's side of a daemon, as sd_notify(3) of systemd describes it. The protocol is
 * one datagram, so no library is needed. */
#ifndef BASE_SERVICE_H
#define BASE_SERVICE_H

/* Reports that this daemon is ready, if a service manager asked for that by NOTIFY_SOCKET; a path,
 * or '@' and an abstract name. Removes the variable, so that no child reports again. Logs a
 * failure. Call it from one thread, before others read the environment. */
void service_ready(void);

#endif
