# SPDX-License-Identifier: BSD-3-Clause
# Reads the JUnit file of ctest. Prints "state<TAB>name<TAB>reason" for each test; state is pass,
# fail or skip. The reason of a skip is the last non-empty line of the test's output.
#
# A test that passes may have skipped parts. For each part a line with state "skip" is printed. A
# part is a function of a cmocka program ("[ SKIPPED ] NAME"), with the line before it as the
# reason; or a line "skipped: PART: REASON" of a program or script.

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

# Records a skipped part once: cmocka lists skipped functions again at its end, which may arrive
# first, on standard error.
function part_add(part, reason) {
	if (!(part in reasons))
		parts[++part_count] = part
	if (reasons[part] == "")
		reasons[part] = reason
}

# Records a pending line "skipped: ..." as a part; the caller knows that no cmocka function follows.
function pending_add(    at) {
	if (pending == "")
		return
	at = index(pending, ": ")
	if (at)
		part_add(substr(pending, 1, at - 1), substr(pending, at + 2))
	else
		part_add("a part", pending)
	pending = ""
}

function output(line) {
	line = plain(line)
	sub(/^.*<system-out>/, "", line)
	sub(/<\/system-out>.*/, "", line)
	if (line ~ /^\[  SKIPPED \] [^ ]+$/) {
		sub(/^\[  SKIPPED \] /, "", line)
		part_add(line, said)
		said = pending = ""
	} else if (line ~ /^\[/) {
		pending_add()
		said = ""
	} else if (line !~ /^[ \t]*$/) {
		if (sub(/^skipped: /, "", line)) {
			pending_add()
			pending = line
		}
		said = line
		last = line
	}
}

/<testcase / {
	name = attribute($0, "name")
	status = attribute($0, "status")
	state = status == "run" ? "pass" : status == "fail" ? "fail" : "skip"
	said = last = pending = ""
	part_count = 0
	delete reasons
}

/<system-out>/ { in_output = 1 }
in_output { output($0) }
/<\/system-out>/ { in_output = 0 }

/<\/testcase>/ {
	pending_add()
	print state "\t" name "\t" (last == "" ? "no reason given" : last)
	for (i = 1; state == "pass" && i <= part_count; i++)
		print "skip\t" name " " parts[i] "\t" \
			(reasons[parts[i]] == "" ? "no reason given" : reasons[parts[i]])
}
