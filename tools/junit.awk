# SPDX-License-Identifier: BSD-3-Clause
# Reads the JUnit file that ctest writes; prints "state<TAB>name<TAB>reason" for each test, state
# one of pass, fail, skip. A test that passes but skips some of its parts gives one more line "skip"
# for each: a cmocka program names them itself, a script prints "skipped: PART: REASON".

function attribute(line, name,    at) {
	at = index(line, " " name "=\"")
	if (!at)
		return ""
	line = substr(line, at + length(name) + 3)
	return plain(substr(line, 1, index(line, "\"") - 1))
}

function plain(text) {
	gsub(/&lt;/, "<", text)
	gsub(/&gt;/, ">", text)
	gsub(/&quot;/, "\"", text)
	gsub(/&apos;/, "'", text)
	gsub(/&amp;/, "\\&", text)
	return text
}

# One line of a test's output: the last one that says something is the reason of a skip.
function output(line) {
	line = plain(line)
	sub(/^.*<system-out>/, "", line)
	sub(/<\/system-out>.*/, "", line)
	if (!cmocka && match(line, /^skipped: [^:]+: ./))
		inner[++inner_count] = substr(line, 10, RLENGTH - 12) "\t" substr(line, RLENGTH)
	sub(/^skipped: /, "", line)
	if (line ~ /^\[  SKIPPED \] [^ ]+$/) {
		sub(/^\[  SKIPPED \] /, "", line)
		inner[++inner_count] = line "\t" (said == "" ? "no reason given" : said)
		said = ""
	} else if (line ~ /^\[ RUN      \]/) {
		said = ""
		cmocka = 1
	} else if (line !~ /^[ \t]*$/ && line !~ /^\[[ =A-Z]*\]/) {
		said = line
		last = line
	}
}

/<testcase / {
	name = attribute($0, "name")
	status = attribute($0, "status")
	state = status == "run" ? "pass" : status == "fail" ? "fail" : "skip"
	said = ""
	last = ""
	inner_count = 0
	cmocka = 0
}

/<system-out>/ { in_output = 1 }
in_output { output($0) }
/<\/system-out>/ { in_output = 0 }

/<\/testcase>/ {
	print state "\t" name "\t" (last == "" ? "no reason given" : last)
	for (i = 1; state == "pass" && i <= inner_count; i++) {
		split(inner[i], part, "\t")
		print "skip\t" name " " part[1] "\t" part[2]
	}
}
