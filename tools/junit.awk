# SPDX-License-Identifier: BSD-3-Clause
# Reads the JUnit file that ctest writes; prints "state<TAB>name<TAB>reason" for each test, state
# one of pass, fail, skip. A program of several tests that skips some of them (cmocka) passes, and
# gives one line "skip" more for each of those.

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
	sub(/^skipped: /, "", line)
	if (line ~ /^\[  SKIPPED \] [^ ]+$/) {
		sub(/^\[  SKIPPED \] /, "", line)
		inner[++inner_count] = line "\t" (said == "" ? "no reason given" : said)
		said = ""
	} else if (line ~ /^\[ RUN      \]/) {
		said = ""
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
