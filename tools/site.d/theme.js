/* SPDX-License-Identifier: BSD-3-Clause */
/* The button that switches between the schemes: that of the browser, dark, light. Replaces the
 * script of the theme, which browsers do not load from files. */
"use strict";
const schemes = ["auto", "dark", "light"];

for (const button of document.getElementsByClassName("theme-toggle"))
	button.addEventListener("click", () => {
		const at = schemes.indexOf(document.body.dataset.theme);
		const next = schemes[(at + 1) % schemes.length];
		document.body.dataset.theme = next;
		localStorage.setItem("theme", next); /* which a script of each page reads */
	});
