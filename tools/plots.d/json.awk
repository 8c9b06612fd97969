# SPDX-License-Identifier: BSD-3-Clause
# Functions that the other scripts share. They parse a line with one flat JSON object, and format
# numbers for readers.

# Fills f with the fields of the object.
function parse(line,    part, colon, key, value) {
	split("", f)
	while (match(line, /"[^"]*":("[^"]*"|[-+.0-9eE]+|true|false|null)/)) {
		part = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		colon = index(part, "\":")
		key = substr(part, 2, colon - 2)
		value = substr(part, colon + 2)
		gsub(/^"|"$/, "", value)
		f[key] = value
	}
}

# Formats v with three significant digits.
function short(v) {
	v += 0
	if (v == 0)
		return "0"
	if (v >= 100)
		return sprintf("%.0f", v)
	return sprintf(v >= 10 ? "%.1f" : v >= 1 ? "%.2f" : "%.3f", v)
}
