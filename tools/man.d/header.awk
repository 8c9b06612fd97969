# SPDX-License-Identifier: BSD-3-Clause
# Reads a public header: its first comment, then each declaration with the comment before it. Bodies
# of inline functions are omitted. A second file has the functions that print.
#
#   awk -v version=V -f header.awk -f header_man.awk FOLDER/NAME.h     prints a page
#
# A block is a comment and the code after it, up to an empty line outside of braces. The functions
# title_print(name), section_print(text), comment_print(comment) and code_print(code, comment) print
# parts of the page. The lines of their arguments end with newlines.

function block_end() {
	if (code != "") {
		if (pending) section_print("declarations")
		pending = 0
		code_print(code, comment)
	} else if (comment != "" && !begun) {
		begun = pending = 1
		comment_print(comment)
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
	title_print(name)
	next
}
in_comment { comment_add($0); next }
in_body { if ($0 ~ /^}/) in_body = 0; next }
depth == 0 && /^\/\* ---- .* ---- \*\/$/ {
	block_end()
	sub(/^\/\* ---- /, "")
	sub(/ ---- \*\/$/, "")
	pending = 0
	section_print($0)
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
	code = code line "\n"
	gsub(/\/\*.*\*\//, "", line)
	depth += gsub(/{/, "", line) - gsub(/}/, "", line)
}
END { block_end() }
