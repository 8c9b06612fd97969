/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of etcd's v3 JSON gateway: bodies of requests, and a decoder of all answers. These
 * functions use plain texts as keys and values; the messages have them in base64. Pure. */
#ifndef MANAGER_ETCD_JSON_H
#define MANAGER_ETCD_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define ETCD_ERROR_BYTES 200

struct etcd_pair {
	char *key, *value;
	int64_t created; /* revision of etcd at which the key was created */
	int64_t lease;   /* 0: none */
};

/* Members that an answer does not have are 0. */
struct etcd_answer {
	uint64_t cluster; /* id of the etcd cluster */
	int64_t revision;
	bool succeeded;          /* all comparisons of the transaction were true */
	bool more;               /* a range has more pairs than the answer */
	int64_t lease, ttl_s;    /* id of a lease, and its time in s; 0: the lease has ended */
	struct etcd_pair *pairs; /* pairs of a range, or of all ranges of a transaction */
	size_t count;
	char error[ETCD_ERROR_BYTES]; /* why etcd rejects the request; "": it accepts the request */
};

/* Decodes an answer; free it with etcd_answer_free. DXP_EMALFORMED: the text is not an answer of
 * etcd; DXP_ENOMEM. After a failure *out is empty. */
int etcd_answer_decode(const char *text, size_t bytes, struct etcd_answer *out);
void etcd_answer_free(struct etcd_answer *a);
/* Returns the pair with this key; NULL: there is none. */
const struct etcd_pair *etcd_answer_find(const struct etcd_answer *a, const char *key);

/* Return the body of a request; the caller frees it. NULL: no memory. etcd_range_body requests the
 * pairs with keys from `key` on and before `end`, at most `limit`; if `end` is NULL, only the pair
 * with this key. */
char *etcd_range_body(const char *key, const char *end, unsigned limit);
char *etcd_grant_body(int64_t ttl_s);
char *etcd_lease_body(int64_t lease); /* for a keep-alive and for a revocation */

/* A transaction. If all comparisons are true, etcd executes the puts and deletes, otherwise the
 * reads. */
struct etcd_txn {
	json_t *compare, *success, *failure;
	bool failed; /* there was not enough memory */
};

void etcd_txn_begin(struct etcd_txn *t);
/* Compare the revision at which the key was created (0: it does not exist), and its value. */
void etcd_txn_created(struct etcd_txn *t, const char *key, int64_t revision);
void etcd_txn_equals(struct etcd_txn *t, const char *key, const char *value);
/* Puts a pair that etcd deletes when the lease ends; 0: no lease. */
void etcd_txn_put(struct etcd_txn *t, const char *key, const char *value, int64_t lease);
void etcd_txn_delete(struct etcd_txn *t, const char *key);
/* Deletes the keys from `key` on and before `end`. */
void etcd_txn_delete_range(struct etcd_txn *t, const char *key, const char *end);
void etcd_txn_read(struct etcd_txn *t, const char *key);
/* Ends the transaction and returns its body; the caller frees it. NULL: no memory. */
char *etcd_txn_body(struct etcd_txn *t);

#endif
