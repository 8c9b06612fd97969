/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures TLS 1.3 over kernel TCP by OpenSSL, as fast as a small program can be: one connection,
 * TCP_NODELAY, AES-128-GCM with X25519, and a pre-shared key in place of certificates. The variant
 * "ktls" lets the kernel encrypt. A PUT is answered by one byte. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <dxp/status.h>

#include "bench/peer_stream.h"

#define PIECE_BYTES (256u << 10) /* per call; more gains little */
#define KEY_BYTES   32

struct tls_end {
	int fd;
	SSL *ssl;
	uint8_t *region;
	struct peer_stream stream;
	unsigned quiet; /* polls in a row in which no byte moved */
};

static int complain(const char *what)
{
	const unsigned long error = ERR_get_error();

	fprintf(stderr, "dxp bench: TLS: %s: %s\n", what,
		error ? ERR_reason_error_string(error) : strerror(errno));
	return DXP_EIO;
}

/* ---- connection ---- */

static int far_connect(struct peer_end *e, int fd)
{
	struct sockaddr_in name = {.sin_family = AF_INET};
	socklen_t bytes = sizeof(name);

	memcpy(&name.sin_addr, e->ends->far.ip + 12, 4);
	if (bind(fd, (struct sockaddr *)&name, bytes) != 0 || listen(fd, 1) != 0 ||
	    getsockname(fd, (struct sockaddr *)&name, &bytes) != 0)
		return -1;
	return control_write(e->control, &name, sizeof(name))
		       ? accept4(fd, NULL, NULL, SOCK_CLOEXEC)
		       : -1;
}

static int near_connect(struct peer_end *e, int fd)
{
	struct sockaddr_in name;

	if (!control_read(e->control, &name, sizeof(name)))
		return -1;
	return connect(fd, (struct sockaddr *)&name, sizeof(name)) == 0 ? fd : -1;
}

static void key_fill(unsigned char *key)
{
	for (int i = 0; i < KEY_BYTES; i++)
		key[i] = (unsigned char)(i + 1);
}

static unsigned near_key(SSL *ssl, const char *hint, char *identity, unsigned identity_space,
			 unsigned char *key, unsigned key_space)
{
	if (key_space < KEY_BYTES || snprintf(identity, identity_space, "bench") < 0)
		return 0;
	key_fill(key);
	return KEY_BYTES;
}

static unsigned far_key(SSL *ssl, const char *identity, unsigned char *key, unsigned key_space)
{
	if (key_space < KEY_BYTES)
		return 0;
	key_fill(key);
	return KEY_BYTES;
}

static SSL_CTX *settings_make(const struct peer_end *e)
{
	SSL_CTX *c = SSL_CTX_new(e->far ? TLS_server_method() : TLS_client_method());

	if (!c || SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_set_ciphersuites(c, "TLS_AES_128_GCM_SHA256") != 1 ||
	    SSL_CTX_set1_groups_list(c, "X25519") != 1) {
		SSL_CTX_free(c);
		return NULL;
	}
	if (e->far)
		SSL_CTX_set_psk_server_callback(c, far_key);
	else
		SSL_CTX_set_psk_client_callback(c, near_key);
	SSL_CTX_set_num_tickets(c, 0);
	SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	if (e->variant && *e->variant)
		SSL_CTX_set_options(c, SSL_OP_ENABLE_KTLS);
	return c;
}

/* Performs the handshake, and checks that the kernel encrypts if it should. */
static int secure(struct peer_end *e, struct tls_end *t)
{
	SSL_CTX *c = settings_make(e);

	t->ssl = c ? SSL_new(c) : NULL;
	SSL_CTX_free(c);
	if (!t->ssl || SSL_set_fd(t->ssl, t->fd) != 1)
		return complain("settings");
	if ((e->far ? SSL_accept(t->ssl) : SSL_connect(t->ssl)) != 1)
		return complain("handshake");
	if (e->variant && *e->variant && !BIO_get_ktls_send(SSL_get_wbio(t->ssl))) {
		if (!e->far)
			fprintf(stderr, "dxp bench: TLS: this kernel or OpenSSL has no kTLS; try "
					"\"modprobe tls\"\n");
		return DXP_EUNSUPPORTED;
	}
	return fcntl(t->fd, F_SETFL, O_NONBLOCK) == 0 ? DXP_OK : complain("fcntl");
}

static int tls_open(struct peer_end *e)
{
	struct tls_end *t = calloc(1, sizeof(*t));
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int one = 1;

	signal(SIGPIPE, SIG_IGN); /* SSL_write reports a closed connection */
	e->state = t;
	if (!t || fd < 0)
		return DXP_ENOMEM;
	if (!address_ipv4(&e->ends->near))
		return DXP_EUNSUPPORTED;
	t->fd = e->far ? far_connect(e, fd) : near_connect(e, fd);
	t->region = mmap(NULL, RAW_BUFFER_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (t->fd < 0 || t->region == MAP_FAILED)
		return complain("connection");
	setsockopt(t->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	peer_stream_open(&t->stream, e);
	return secure(e, t);
}

/* ---- operations ---- */

static int tls_post(struct peer_end *e)
{
	struct tls_end *t = e->state;

	peer_stream_post(&t->stream);
	return DXP_OK;
}

/* Returns whether an operation that moved no byte may be repeated later. */
static bool again(const struct tls_end *t, int result)
{
	const int error = SSL_get_error(t->ssl, result);

	ERR_clear_error();
	return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

static uint64_t piece_of(uint64_t bytes)
{
	return bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
}

static bool push(struct tls_end *t, bool *moved)
{
	while (t->stream.sent < t->stream.owed) {
		const size_t at = t->stream.sent % (RAW_BUFFER_BYTES - PIECE_BYTES);
		int n = SSL_write(t->ssl, t->region + at,
				  (int)piece_of(t->stream.owed - t->stream.sent));
		if (n <= 0)
			return again(t, n);
		t->stream.sent += (uint64_t)n;
		*moved = true;
	}
	return true;
}

static bool pull(struct tls_end *t, bool *moved)
{
	for (uint64_t read_bytes = 0; read_bytes < PIECE_BYTES;) {
		const size_t at = t->stream.received % (RAW_BUFFER_BYTES - PIECE_BYTES);
		int n = SSL_read(t->ssl, t->region + at, PIECE_BYTES);
		if (n <= 0)
			return again(t, n);
		t->stream.received += (uint64_t)n;
		read_bytes += (uint64_t)n;
		*moved = true;
	}
	return true;
}

/* If nothing moved, polls again some times, about a wakeup's cost, then sleeps. */
static void rest(const struct peer_end *e, struct tls_end *t, bool moved)
{
	struct pollfd p = {.fd = t->fd, .events = POLLIN};

	t->quiet = moved ? 0 : t->quiet + 1;
	if (e->work->spin || t->quiet < 32)
		return;
	if (t->stream.sent < t->stream.owed)
		p.events |= POLLOUT;
	poll(&p, 1, 100);
}

static int tls_poll(struct peer_end *e)
{
	struct tls_end *t = e->state;
	bool moved = false;

	if (!push(t, &moved) || !pull(t, &moved))
		return DXP_EPEERLOST;
	rest(e, t, moved);
	return (int)peer_stream_ended(&t->stream);
}

static void tls_serve(struct peer_end *e)
{
	struct tls_end *t = e->state;

	peer_stream_serve(&t->stream, e, tls_poll(e));
}

const struct peer_ops peer_ops_exported = {tls_open, tls_post, tls_poll, tls_serve};
