# SPDX-License-Identifier: BSD-3-Clause
# Prints the parts of a header that header.awk reads, as a man page.

function escape(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	return text ~ /^[.']/ ? "\\&" text : text
}

function title_print(name) {
	printf ".TH DXP_%s 3 \"\" \"Direct xPU %s\" \"Direct xPU\"\n", toupper(name), version
	printf ".SH NAME\ndxp_%s \\- declarations of <dxp/%s.h>\n", name, name
	printf ".SH SYNOPSIS\n.B #include <dxp/%s.h>\n.SH DESCRIPTION\n", name
}

function section_print(text) { print ".SH " toupper(escape(text)) }

# Indented lines stay; words such as "Errors:" at a line's start become tags.
function comment_print(comment,    i, n, lines, text, raw, tagged) {
	n = split(comment, lines, "\n")
	raw = tagged = 0
	for (i = 1; i < n; i++) {
		text = lines[i]
		if (text ~ /^  / && !tagged) {
			if (!raw) print ".PP\n.nf"
			raw = 1
			print escape(text)
			continue
		}
		if (raw) print ".fi\n.PP"
		raw = 0
		if (match(text, /^(Errors|Shape|Owner|Order|Threads|Time|Source):/)) {
			print ".TP\n.B " substr(text, 1, RLENGTH)
			text = substr(text, RLENGTH + 1)
			tagged = 1
		}
		sub(/^ +/, "", text)
		if (text == "") {
			print ".PP"
			tagged = 0
		} else
			print escape(text)
	}
	if (raw) print ".fi"
	if (tagged) print ".PP"
}

function code_print(code, comment,    i, n, lines) {
	print ".PP\n.nf\n.B \\&"
	n = split(code, lines, "\n")
	for (i = 1; i < n; i++) print escape(lines[i])
	print ".fi"
	if (comment == "") {
		print ".PP"
		return
	}
	print ".RS 4"
	comment_print(comment)
	print ".RE"
}
