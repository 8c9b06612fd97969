/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <netdb.h>

#include <dxp/status.h>

#include "link/resolve.h"

static int no_names; /* no name is found */

int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
		       struct addrinfo **out);
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
		       struct addrinfo **out);
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
		       struct addrinfo **out)
{
	return no_names ? EAI_NONAME : __real_getaddrinfo(host, service, hints, out);
}

static void resolve_address__each_form(void **state)
{
	static const struct {
		const char *text, *address;
	} rows[] = {
		{"127.0.0.1", "127.0.0.1:7"},     {"10.0.0.1:99", "10.0.0.1:99"},
		{"[::1]:99", "[::1]:99"},         {"::1", "[::1]:7"},
		{"fe80::1", "[fe80::1]:7"},       {"localhost", "127.0.0.1:7"},
		{"localhost:99", "127.0.0.1:99"},
	};
	char text[UDP_ADDRESS_TEXT_BYTES];
	struct udp_address a;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(resolve_address(rows[i].text, 7, &a), DXP_OK);
		assert_string_equal(address_format(&a, text), rows[i].address);
	}
}

static void resolve_address__rejects(void **state)
{
	static const char *const rows[] = {
		"",
		":99",
		"localhost:",
		"localhost:0",
		"localhost:65536",
		"localhost:9x",
		"local host",
		"127.1",
		"300.1.1.1",
		"10.0.0",
		"1",
		"[::1",
		"::1:99999x",
	};
	struct udp_address a;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(resolve_address(rows[i], 7, &a), DXP_EINVAL);
	assert_int_equal(resolve_address("no.such.host.invalid", 7, &a), DXP_ENOENT);
}

/* Neither /etc/hosts nor a name server exists. */
static void resolve_address__localhost_without_hosts(void **state)
{
	char text[UDP_ADDRESS_TEXT_BYTES];
	struct udp_address a;

	no_names = 1;
	assert_int_equal(resolve_address("localhost:99", 7, &a), DXP_OK);
	assert_string_equal(address_format(&a, text), "127.0.0.1:99");
	assert_int_equal(resolve_address("other", 7, &a), DXP_ENOENT);
	no_names = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resolve_address__each_form),
		cmocka_unit_test(resolve_address__rejects),
		cmocka_unit_test(resolve_address__localhost_without_hosts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
