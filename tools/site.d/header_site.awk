# SPDX-License-Identifier: BSD-3-Clause
# Prints the parts of a header that tools/man.d/header.awk reads, as a Markdown page.

# Escapes what Markdown reads as markup, outside of backquotes.
function escape(text,    i, n, parts, out) {
	n = split(text, parts, "`")
	for (i = 1; i <= n; i++) {
		if (i % 2) {
			gsub(/[*_<>#|\[\]\\]/, "\\\\&", parts[i])
			sub(/^[-+]/, "\\\\&", parts[i])
		}
		out = out (i > 1 ? "`" : "") parts[i]
	}
	return out
}

function title_print(name) { printf "# dxp/%s.h\n\n```c\n#include <dxp/%s.h>\n```\n\n", name, name }

function section_print(text) { printf "\n## %s\n\n", toupper(substr(text, 1, 1)) substr(text, 2) }

# Indented lines stay; words such as "Errors:" at a line's start begin a paragraph.
function comment_print(comment,    i, n, lines, text, raw, tagged) {
	n = split(comment, lines, "\n")
	for (i = 1; i < n; i++) {
		text = lines[i]
		if (text ~ /^  / && !tagged) {
			if (!raw) print "\n```text"
			raw = 1
			print text
			continue
		}
		if (raw) print "```\n"
		raw = 0
		if (match(text, /^(Errors|Shape|Owner|Order|Threads|Time|Source):/)) {
			printf "\n**%s**", substr(text, 1, RLENGTH)
			text = substr(text, RLENGTH + 1)
			tagged = 1
		}
		if (text == "") tagged = 0
		sub(/^ +/, " ", text)
		print escape(text)
	}
	if (raw) print "```"
	print ""
}

# The name that a declaration declares; "" if there is none.
function declared(code) {
	if (match(code, /#define [A-Z0-9_]+/)) return substr(code, RSTART + 8, RLENGTH - 8)
	if (match(code, /^(struct|enum|union) [a-z0-9_]+ \{/)) return substr(code, 1, RLENGTH - 2)
	if (match(code, /dxp_[a-z0-9_]+\(/)) return substr(code, RSTART, RLENGTH - 1) "()"
	if (match(code, /^(struct|enum|union) [a-z0-9_]+/)) return substr(code, 1, RLENGTH)
	return ""
}

function code_print(code, comment,    name) {
	name = declared(code)
	if (name != "") printf "### `%s`\n\n", name
	printf "```c\n%s```\n\n", code
	comment_print(comment)
}
