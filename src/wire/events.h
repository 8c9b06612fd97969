/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of the manager's event log, as bytes; docs/reference/wire.md has the tables. Header and
 * MAC are the same as in wire/manage.h.
 *
 *   EVENTS       key holder -> manager  first event wanted     answer: EVENTS_PAGE or REFUSE
 *   EVENTS_PAGE  manager -> key holder  events, in pages
 *   REPORT       node -> manager        change of a path       answer: ANSWER or REFUSE */
#ifndef WIRE_EVENTS_H
#define WIRE_EVENTS_H

#include "wire/manage.h"

#define EVENT_SUBJECT_BYTES 64 /* bytes of a name or an address, with the final zero */
#define EVENT_TEXT_BYTES    MANAGE_TEXT_BYTES
#define EVENT_SEQUENCE_MAX  (UINT64_MAX / 4) /* so that sums do not overflow */

enum event_severity { EVENT_INFO, EVENT_WARNING, EVENT_CRITICAL };

/* X(constant, value, name, severity). The values are on the wire and in the store. */
#define EVENT_KIND_LIST(X)                            \
	X(STARTED, 1, "started", INFO)                \
	X(JOINED, 2, "joined", INFO)                  \
	X(LEFT, 3, "left", INFO)                      \
	X(DIED, 4, "died", CRITICAL)                  \
	X(REMOVED, 5, "removed", WARNING)             \
	X(GRANTED, 6, "granted", INFO)                \
	X(REVOKED, 7, "revoked", INFO)                \
	X(REFUSED, 8, "refused", WARNING)             \
	X(TOKEN_CREATED, 9, "token-created", INFO)    \
	X(TOKEN_USED, 10, "token-used", INFO)         \
	X(TOKEN_REVOKED, 11, "token-revoked", INFO)   \
	X(PATH_BLOCKED, 12, "path-blocked", CRITICAL) \
	X(PATH_SLOW, 13, "path-slow", WARNING)        \
	X(PATH_RESTORED, 14, "path-restored", INFO)   \
	X(UNLOGGED, 15, "unlogged", WARNING)          \
	X(ROTATED, 16, "rotated", INFO)               \
	X(LOST, 17, "lost", WARNING)

#define EVENT_KIND_ENUM(constant, value, name, severity) EVENT_##constant = value,
enum event_kind { EVENT_KIND_LIST(EVENT_KIND_ENUM) };
#undef EVENT_KIND_ENUM

/* "joined"; "other" for a kind of a later version. */
const char *event_kind_name(uint8_t kind);
/* 0: none. */
uint8_t event_kind_find(const char *name);
enum event_severity event_kind_severity(uint8_t kind);

struct event_row {
	uint64_t sequence;                 /* number of the event; grows by one */
	uint64_t time_ms;                  /* since 1970, by the manager's clock */
	uint8_t kind;                      /* enum event_kind */
	char subject[EVENT_SUBJECT_BYTES]; /* name of a node, host or token, or an address */
	char text[EVENT_TEXT_BYTES];
};

/* per page: as many fit if subject and text have 35 characters together */
#define EVENTS_PAGE_ROWS 20

struct events_request {
	uint64_t request, nonce;
	uint64_t from;     /* number of the first event wanted; 0: the oldest */
	uint64_t since_ms; /* older events are left out; 0: none are */
	uint8_t kind;      /* only events of this kind; 0: of all kinds */
	/* sender's public key, which selects the key of the MAC, or NULL; not set by decoders */
	const uint8_t *key;
};

struct events_page {
	uint64_t request, nonce;
	uint64_t epoch;          /* number of the manager's run */
	uint64_t oldest, newest; /* numbers of the events that are kept; newest 0: none */
	/* next: `from` of the next request; newest + 1: no further events yet */
	uint64_t from, next;
	uint8_t count;
	struct event_row rows[EVENTS_PAGE_ROWS];
};

/* Body of REPORT. `base` has the members of a RENEW; its progress is not used. */
struct event_report {
	struct manage_renew base;
	/* in this run of the node; a repeated report keeps it */
	uint32_t number;
	uint8_t kind; /* EVENT_PATH_... */
	char peer[FABRIC_NAME_BYTES];
	uint64_t rtt_ns;     /* smallest of the last round trips; 0: none */
	uint64_t typical_ns; /* median of this node's paths; 0: none */
};

/* Encode into MANAGE_FRAME_BYTES, a page into FABRIC_DATAGRAM_BYTES; return the length. `next`
 * becomes the first row that does not fit. */
size_t events_request_encode(const struct events_request *request, struct mac *mac, uint8_t *out);
size_t events_page_encode(const struct events_page *page, struct mac *mac, uint8_t *out);
size_t event_report_encode(uint16_t source, const struct event_report *report, struct mac *mac,
			   uint8_t *out);

/* DXP_EMALFORMED: wrong length or field; the output is unchanged. */
int events_request_decode(struct manage_body body, struct events_request *out);
int events_page_decode(struct manage_body body, struct events_page *out);
int event_report_decode(struct manage_body body, struct event_report *out);

#endif
