/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of dxp-web. */
#ifndef CMD_WEB_LIMITS_H
#define CMD_WEB_LIMITS_H

#define WEB_PORT 4795 /* default TCP port; the manager uses the same number for UDP */

/* HTTP */
#define WEB_CONNECTIONS      256 /* open connections; further connections wait in the backlog */
#define WEB_CONNECTION_BYTES (16 * 1024) /* request line and headers of a request */
#define WEB_STREAMS          64          /* connections that receive server-sent events */
#define WEB_IDLE_S           10          /* s without a byte in either direction */
#define WEB_REQUEST_S        30 /* s from the start of a request to the end of its answer */

/* login */
#define WEB_TOKEN_S    120 /* s; validity of a login link */
#define WEB_SKEW_S     30  /* s by which the clock of the machine that made the link may be ahead */
#define WEB_TOKENS     256 /* used links that are remembered while they are valid */
#define WEB_SESSIONS   64  /* logged-in browsers; a further one replaces the oldest */
#define WEB_SESSION_S  (12 * 3600) /* s; validity of a login */
#define WEB_SCRAPE_MIN 16          /* characters of the token of --scrape-token */
#define WEB_SCRAPE_MAX 256

/* fabric */
#define WEB_EVENTS   1024 /* events that are kept */
#define WEB_PAGE     256  /* events of an answer */
#define WEB_BATCH    32   /* events in one update of a stream */
#define WEB_ALERTS   64   /* alerts of each source: nodes, bridges, switches */
#define WEB_HISTORY  300  /* samples of the fabric's rates: five minutes at one reading a second */
#define WEB_WATCHED  8    /* nodes whose sessions and queue pairs are read */
#define WEB_WATCH_S  10   /* s; a node is watched for this time after the last request for it */
#define WEB_SWITCHES 16   /* switches that --switch may name */
#define WEB_NICS     256  /* NICs of this machine */
/* failed readings of the manager's log in a row, after which readings of nodes cause events again;
 * a busy manager misses one */
#define WEB_LOG_MISSES 3

#endif
