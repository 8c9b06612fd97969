/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/page.h"

#include <stddef.h>
#include <string.h>

#include "base/util.h"

#define HTML   "text/html; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"

const struct web_page *web_page_find(const char *path)
{
	static const struct web_page pages[] = {
		{"/", HTML, web_page_index_html},
		{"/app.css", "text/css; charset=utf-8", web_page_app_css},
		{"/app.js", SCRIPT, web_page_app_js},
		{"/chart.js", SCRIPT, web_page_chart_js},
		{"/format.js", SCRIPT, web_page_format_js},
		{"/table.js", SCRIPT, web_page_table_js},
		{"/views.js", SCRIPT, web_page_views_js},
		{"/icon.svg", "image/svg+xml", web_page_icon_svg},
		{"/api/v1/openapi.json", "application/json", web_page_openapi_json},
	};

	for (size_t i = 0; i < ARRAY_COUNT(pages); i++)
		if (strcmp(pages[i].path, path) == 0)
			return &pages[i];
	return NULL;
}

const struct web_page web_page_login = {"/login", HTML, web_page_login_html};
