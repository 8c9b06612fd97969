/* SPDX-License-Identifier: BSD-3-Clause */
/* The only error convention: every fallible dxp_ function returns one of these, or a count >= 0 if
 * its comment states so. No errno, no NULL as error. The enum and the strings come from this
 * list. */
#ifndef DXP_STATUS_H
#define DXP_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#define DXP_API __attribute__((visibility("default")))

/* X(name, value, text for users). Append only, because the values are on the wire. */
#define DXP_STATUS_LIST(X)                                                                         \
	X(DXP_OK, 0, "success")                                                                    \
	X(DXP_EAGAIN, -1, "no space now; retry after progress")                                    \
	X(DXP_EMALFORMED, -2, "bytes that do not parse")                                           \
	X(DXP_EACCESS, -3, "key, magic or grant does not permit this")                             \
	X(DXP_ETIMEDOUT, -4, "peer silent past its time budget")                                   \
	X(DXP_EINVAL, -5, "argument out of range")                                                 \
	X(DXP_ENOMEM, -6, "out of memory")                                                         \
	X(DXP_ENOENT, -7, "no such node, region, queue pair or object")                            \
	X(DXP_EBUSY, -8, "in use by another user")                                                 \
	X(DXP_EPEERRESET, -9, "peer restarted; the outcome of outstanding requests is unknown")    \
	X(DXP_EPEERLOST, -10, "peer left the fabric or died")                                      \
	X(DXP_ERANGE, -11, "outside the region's bounds")                                          \
	X(DXP_EIO, -12, "the operating system or the device reported an error")                    \
	X(DXP_EUNSUPPORTED, -13, "not supported by this peer or build")                            \
	X(DXP_EBUILD, -14, "program does not build; see its build log")                            \
	X(DXP_EDEVICE, -15, "the device failed while running a command")                           \
	X(DXP_ECANCELED, -16, "not run, because a command it depends on failed")                   \
	X(DXP_ECLOSED, -17, "closed")                                                              \
	X(DXP_EAUTH, -18, "the fabric key is wrong")                                               \
	X(DXP_EEXIST, -19, "already exists")                                                       \
	X(DXP_EPATH, -20, "the path carries only smaller packets now; try again")                  \
	X(DXP_EOVERRUN, -21, "doorbells without free descriptors; claim each, reset the function") \
	X(DXP_EPROTECT, -22, "the peer requires another --protect or a key pair; see the log")

#define DXP_STATUS_ENUM(name, value, text) name = value,
enum dxp_status { DXP_STATUS_LIST(DXP_STATUS_ENUM) };
#undef DXP_STATUS_ENUM

/* Returns the text of a status, in static storage; never NULL, even for unknown values. */
DXP_API const char *dxp_status_text(int status);

/* Returns the name of a status, such as "DXP_EACCESS", in static storage; never NULL. */
DXP_API const char *dxp_status_name(int status);

#ifdef __cplusplus
}
#endif
#endif
