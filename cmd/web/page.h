/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of the user interface, embedded at build time. */
#ifndef CMD_WEB_PAGE_H
#define CMD_WEB_PAGE_H

struct web_page {
	const char *path, *type, *data;
};

/* Returns the page of a path, or NULL. */
const struct web_page *web_page_find(const char *path);

/* The page for a browser without a login. */
extern const struct web_page web_page_login;

/* Generated from the files of pages/. */
extern const char web_page_app_css[], web_page_app_js[], web_page_chart_js[], web_page_format_js[],
	web_page_icon_svg[], web_page_index_html[], web_page_login_html[], web_page_openapi_json[],
	web_page_table_js[], web_page_views_js[];

#endif
