# SPDX-License-Identifier: BSD-3-Clause
# Extracts C code from lines, for tidy.awk and circles.awk.

# Returns a line's code, without comments and string contents. in_comment: state at the line's end;
# the caller resets it per file.
function code_of(line,    code, at, token) {
	code = ""
	gsub(/\\./, "", line)
	while (1) {
		if (in_comment) {
			at = index(line, "*/")
			if (!at)
				return code
			line = substr(line, at + 2)
			in_comment = 0
		}
		if (!match(line, /"[^"]*"|'[^']*'|\/\*|\/\//))
			return code line
		token = substr(line, RSTART, 2)
		code = code substr(line, 1, RSTART - 1)
		line = substr(line, RSTART + RLENGTH)
		if (token == "//")
			return code
		if (token == "/*")
			in_comment = 1
		else
			code = code (token ~ /^"/ ? "\"\"" : "' '")
	}
}
