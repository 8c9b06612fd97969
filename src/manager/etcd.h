/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of an etcd cluster. Each call makes one attempt at one endpoint and returns within
 * ETCD_ATTEMPT_MS. After a failure the next call uses the next endpoint. After a failure it is
 * unknown whether etcd has executed the request, so the caller reads the state again. */
#ifndef MANAGER_ETCD_H
#define MANAGER_ETCD_H

#include "manager/etcd_json.h"

/* ms; longer than a request takes on a slow disk, and short enough for several attempts during a
 * lease */
#define ETCD_ATTEMPT_MS    700
#define ETCD_ENDPOINTS_MAX 8
#define ETCD_NAME_BYTES    64
#define ETCD_HOST_BYTES    128

/* Where the store is: etcd://HOST:PORT[,HOST:PORT...][/FABRIC]; etcds:// uses TLS. */
struct etcd_place {
	bool tls;
	unsigned count;
	char endpoints[ETCD_ENDPOINTS_MAX][ETCD_HOST_BYTES]; /* HOST:PORT */
	char fabric[ETCD_NAME_BYTES];                        /* "dxp" if the text has none */
};

/* Parses the text. DXP_EINVAL: it has another form. */
int etcd_place_parse(const char *text, struct etcd_place *out);

/* Moves requests to etcd, reads a clock, and waits. */
struct etcd_transport {
	/* Sends a body to a path of an endpoint, and sets *answer, which the caller frees, and
	 * *bytes. Returns DXP_OK after an answer of any content. Otherwise writes the reason. */
	int (*post)(void *context, unsigned endpoint, const char *path, const char *body,
		    char **answer, size_t *bytes, char reason[ETCD_ERROR_BYTES]);
	/* Also counts while the machine is suspended, because leases end meanwhile. */
	uint64_t (*now_ns)(void *context);
	void (*pause)(void *context, unsigned ms);
	void (*close)(void *context);
	void *context;
};

/* etcd_http.c: a transport over HTTP. The files are for TLS: certificates of the cluster's
 * authority, and this manager's certificate and key; NULL: none. DXP_ENOMEM; DXP_EIO, logged. */
struct etcd_tls {
	const char *ca, *certificate, *key;
};
int etcd_http_open(const struct etcd_place *place, const struct etcd_tls *tls,
		   struct etcd_transport *out);

struct etcd {
	struct etcd_transport transport;
	unsigned endpoints, current;
	uint64_t cluster; /* id of the cluster, from the first answer; 0: none yet */
	bool failing;     /* the last attempt failed; this was logged */
	char reason[ETCD_ERROR_BYTES];
	const struct etcd_place *place;
};

/* Makes one attempt and frees `body`. DXP_OK: *out is etcd's answer, which reports no error; free
 * it with etcd_answer_free. DXP_EIO: there is no usable answer; DXP_ENOMEM. After a failure
 * e->reason has the cause. */
int etcd_call(struct etcd *e, const char *path, char *body, struct etcd_answer *out);

/* Waits a moment after a failed attempt. */
void etcd_pause(struct etcd *e);

#endif
