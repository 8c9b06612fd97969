/* SPDX-License-Identifier: BSD-3-Clause */
/* Drops rights of root: any node can send packets to the loop that reads them. */
#include "base/privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/log.h"

#ifndef CAP_BPF
#define CAP_BPF 39
#endif
#define BIT(capability) (1ull << (capability))

typedef struct __user_cap_data_struct cap_data[_LINUX_CAPABILITY_U32S_3];

static struct __user_cap_header_struct head_make(void)
{
	return (struct __user_cap_header_struct){.version = _LINUX_CAPABILITY_VERSION_3};
}

static uint64_t permitted(void)
{
	struct __user_cap_header_struct head = head_make();
	cap_data now;

	if (syscall(SYS_capget, &head, now) != 0)
		return 0;
	return now[0].permitted | (uint64_t)now[1].permitted << 32;
}

bool privileges_capabilities_set(uint64_t all)
{
	struct __user_cap_header_struct head = head_make();
	cap_data next = {{0}};

	next[0].permitted = next[0].effective = (uint32_t)all;
	next[1].permitted = next[1].effective = (uint32_t)(all >> 32);
	return syscall(SYS_capset, &head, next) == 0;
}

/* Empties the bounding set, so that programs that this process starts gain no capability. */
static void bounds_drop(void)
{
	for (unsigned long c = 0; c < 64; c++)
		if (prctl(PR_CAPBSET_DROP, c, 0, 0, 0) != 0)
			/* no such capability, or no right to drop it */
			return;
}

/* Keeps permitted capabilities. Fails in a user namespace without the user's number. */
static bool user_set(const struct passwd *p)
{
	return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && setgroups(0, NULL) == 0 &&
	       setresgid(p->pw_gid, p->pw_gid, p->pw_gid) == 0 &&
	       setresuid(p->pw_uid, p->pw_uid, p->pw_uid) == 0;
}

static int user_become(const char *user)
{
	const struct passwd *p = getpwnam(user ? user : PRIVILEGES_USER);

	if (p && user_set(p))
		return DXP_OK;
	if (!user) {
		log_info("stays user %u, because %s cannot be used here; --user names another",
			 (unsigned)geteuid(), PRIVILEGES_USER);
		return DXP_OK;
	}
	if (!p) {
		log_error("no user '%s' on this machine; choose another with --user", user);
		return DXP_ENOENT;
	}
	log_error("cannot become user '%s': %s; start it as root, or as that user", user,
		  strerror(errno));
	return DXP_EIO;
}

/* Becomes the user. Keeps the signal that this process gets when its parent ends, which the kernel
 * clears when the user changes. */
static int user_change(const char *user)
{
	const pid_t parent = getppid();
	int orphan_signal = 0;

	prctl(PR_GET_PDEATHSIG, &orphan_signal);
	int status = user_become(user);
	if (orphan_signal == 0)
		return status;
	prctl(PR_SET_PDEATHSIG, orphan_signal);
	if (getppid() != parent)
		raise(orphan_signal); /* the parent ended meanwhile */
	return status;
}

int privileges_drop(const char *user, bool xdp)
{
	uint64_t has = permitted(), keeps = xdp ? BIT(CAP_NET_ADMIN) | BIT(CAP_BPF) : 0;

	bounds_drop();
	if (geteuid() == 0 || user) {
		int status = user_change(user);
		if (status != DXP_OK)
			return status;
	}
	if (!privileges_capabilities_set(has & keeps) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
		log_error("cannot drop the rights of root: %s; check the capabilities that "
			  "it is started with",
			  strerror(errno));
		return DXP_EIO;
	}
	return DXP_OK;
}
