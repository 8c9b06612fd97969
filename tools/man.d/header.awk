# SPDX-License-Identifier: BSD-3-Clause
# Makes a man page of a public header: its first comment, then each declaration with the comment
# before it. Bodies of inline functions are omitted.
#
#   awk -v version=V -f header.awk FOLDER/NAME.h     writes the page to standard output
#
# A block is a comment and the code after it, up to an empty line outside of braces.

function escape(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	return text ~ /^[.']/ ? "\\&" text : text
}

# Prints a comment's text. Indented lines stay; words such as "Errors:" at a line's start become
# tags.
function comment_print(    i, n, lines, text, raw) {
	n = split(comment, lines, "\n")
	raw = 0
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
	tagged = 0
	comment = ""
}

function block_end() {
	if (code != "") {
		printf "%s", pending
		pending = ""
		print ".PP\n.nf\n.B \\&"
		printf "%s", code
		print ".fi"
		if (comment != "") print ".RS 4"
		else print ".PP"
		described = comment != ""
		comment_print()
		if (described) print ".RE"
	} else if (comment != "" && !begun) {
		begun = 1
		comment_print()
		pending = ".SH DECLARATIONS\n"
	}
	code = comment = ""
}

function comment_add(text) {
	sub(/^[ \t]*\/\*+ ?/, "", text)
	sub(/^ \* ?/, "", text)
	if (text ~ /\*\//) {
		in_comment = 0
		sub(/ *\*\/.*/, "", text)
	}
	comment = comment text "\n"
}

BEGIN { depth = 0 }
FNR == 1 {
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.h$/, "", name)
	printf ".TH DXP_%s 3 \"\" \"Direct xPU %s\" \"Direct xPU\"\n", toupper(name), version
	printf ".SH NAME\ndxp_%s \\- declarations of <dxp/%s.h>\n", name, name
	printf ".SH SYNOPSIS\n.B #include <dxp/%s.h>\n.SH DESCRIPTION\n", name
	next
}
in_comment { comment_add($0); next }
in_body { if ($0 ~ /^}/) in_body = 0; next }
depth == 0 && /^\/\* ---- .* ---- \*\/$/ {
	block_end()
	sub(/^\/\* ---- /, "")
	sub(/ ---- \*\/$/, "")
	pending = ""
	print ".SH " toupper(escape($0))
	next
}
depth == 0 && /^\/\*/ {
	if (comment != "" || code != "") block_end()
	in_comment = 1
	comment_add($0)
	next
}
depth == 0 && /^$/ { block_end(); next }
/^#(include|if|ifdef|ifndef|endif|else|elif|undef)/ || /^extern "C"/ { next }
/^#define DXP_[A-Z0-9_]*_H$/ || /^}$/ && depth == 0 { next }
depth == 0 && /^{/ {
	in_body = 1
	sub(/\n$/, ";\n", code)
	next
}
{
	line = $0
	sub(/^DXP_API /, "", line)
	sub(/^DXP_FN /, "", line)
	sub(/^static inline /, "", line)
	code = code escape(line) "\n"
	gsub(/\/\*.*\*\//, "", line)
	depth += gsub(/{/, "", line) - gsub(/}/, "", line)
}
END { block_end() }
