# SPDX-License-Identifier: BSD-3-Clause
# Prints rows of `dxp bench --json` for gnuplot or as a markdown table; load after json.awk.
#   mode   points: a block for each contender: its name, then lines "x value p99 drops jain least
#                  most"
#          routes: the same, but a block for each case without the size at the end of its name
#          gains:  the same, but a block for each lab and contender that has a peer; value is the
#                  speed-up over the peer
#          bars:   a line for each lab and case, a column for each contender
#          pivot:  the same as markdown; a cell also has the figures beside the value
#          list:   a markdown line for each row
#   where  KEY=VALUE;KEY=VALUE: only rows in which KEY contains VALUE
# Runs under mawk.

BEGIN {
	conditions = split(where, condition, ";")
	# x axis: the first name that a row has
	split("loss_percent bytes senders peers nodes hosts megabytes reads " \
	      "registers", x_names, " ")
}

function wanted(    i, at) {
	for (i = 1; i <= conditions; i++) {
		at = index(condition[i], "=")
		if (at && !index(f[substr(condition[i], 1, at - 1)], substr(condition[i], at + 1)))
			return 0
	}
	return 1
}

function x_of(    i) {
	for (i = 1; i in x_names; i++)
		if (x_names[i] in f)
			return f[x_names[i]]
	return ""
}

# Formats the value, with figures that this metric's reader needs.
function cell(    text) {
	if (!("samples" in f) && match(f["note"], /^(not built|skipped)/))
		return substr(f["note"], 1, RLENGTH)
	if (!("samples" in f))
		return "failed"
	if (f["metric"] ~ /^round trip/)
		text = short(f["value"]) " / " short(f["p99_us"])
	else
		text = short(f["value"])
	if ("near_cpu" in f)
		text = text " (" short(f["near_cpu"]) " + " short(f["far_cpu"]) ")"
	# adds the share of the slowest stage's bandwidth
	if (f["bench"] ~ /^bridge/ && f["ratio"] + 0 > 0)
		text = text " = " short(100 * f["ratio"]) " %"
	noted += "note" in f
	return "note" in f ? text " *" : text
}

function series() {
	# a series per operation of RLTP, and per peer
	if (f["bench"] == "latency" && f["contender"] == "RLTP")
		return "RLTP " substr(f["case"], 1, 3)
	if (mode == "routes") {
		name_alone = f["case"]
		sub(/ [0-9].*/, "", name_alone)
		return name_alone
	}
	return f["contender"]
}

# A crowd's case is "TOPOLOGY NODES"; sets `nodes` from it.
function crowd_row(    part) {
	split(f["case"], part, " ")
	f["nodes"] = part[2]
}

{
	parse($0)
	if (f["metric"] == "goodput share")
		crowd_row()
	if (!("bench" in f) || !wanted())
		next
	if (mode == "gains") {
		if (f["ratio"] + 0 <= 0 || f["contender"] == f["peer"])
			next
		f["contender"] = f["lab"] ", " f["contender"]
		f["value"] = 1 / f["ratio"]
	}
	pointed = mode == "points" || mode == "gains" || mode == "routes"
	contender = pointed ? series() : f["contender"]
	group = ("lab" in f ? f["lab"] " " : "") f["case"]
	if (!(contender in seen_contender)) {
		seen_contender[contender] = 1
		contenders[++contender_count] = contender
	}
	if (!(group in seen_group)) {
		seen_group[group] = 1
		groups[++group_count] = group
		lab[group] = f["lab"]
		case_count += !(f["case"] in cases)
		cases[f["case"]] = 1
		name[group] = f["case"]
		unit = f["unit"]
		cpu_unit = f["cpu_unit"]
	}
	metric_count += f["metric"] != metric
	metric = f["metric"]
	cores[group] = f["cores"]
	value[group, contender] = f["value"]
	text[group, contender] = cell()
	# once, even as the peer of several operations
	if (pointed && f["value"] + 0 > 0 && !((contender, x_of()) in drawn)) {
		drawn[contender, x_of()] = 1
		line = x_of() " " f["value"] " " f["p99_us"] + 0 " " f["drops_percent"] + 0
		line = line " " f["jain"] + 0
		if ("least_share" in f)
			line = line " " f["least_share"] " " f["most_share"]
		block[contender, ++points[contender]] = line
	}
	if (mode == "list")
		list_row()
}

function list_row() {
	if (!listed++) {
		print "| where | case | contender | what | value | p50 us | p99 us | beside it |" \
		      " ratio | more | samples | note |"
		print "|---|---|---|---|---:|---:|---:|---|---:|---|---:|---|"
	}
	extra = ""
	if ("drops_percent" in f)
		extra = short(f["drops_percent"]) " % dropped, Jain " short(f["jain"])
	if ("least_share" in f)
		extra = "after " f["megabytes"] + 0 " MB " short(f["least_share"]) " .. " \
			short(f["most_share"]) " of a fair share"
	if ("packets" in f)
		extra = short(f["packets"]) " packets sent by hosts, " short(f["crossings"]) \
			" links crossed" ("algorithm" in f ? ", algorithm " f["algorithm"] + 0 : "")
	if ("processors_gb_per_s" in f)
		extra = "processors allow " short(f["processors_gb_per_s"]) " GB/s"
	if ("host_bytes" in f)
		extra = short(f["host_bytes"]) " B through the host"
	if ("host_cpu_ms_per_gb" in f)
		extra = extra ", host CPU " short(f["host_cpu_ms_per_gb"]) " ms/GB, " \
			short(f["copies"]) " copies"
	else if ("host_cpu_ms" in f)
		extra = extra ", host CPU " short(f["host_cpu_ms"]) " ms"
	if ("slowest_mb_per_s" in f)
		extra = f["slots"] + 0 " slots: Jain " short(f["jain"]) ", slowest " \
			short(f["slowest_mb_per_s"]) ", fastest " short(f["fastest_mb_per_s"]) \
			" MB/s"
	if ("rings_mb" in f)
		extra = "rings of " short(f["rings_mb"]) " MB"
	print "| " f["lab"] " | " f["case"] " | " f["contender"] " | " f["metric"] " | " \
	      short(f["value"]) " " f["unit"] " | " blank("p50_us") " | " blank("p99_us") " | " \
	      f["peer"] " | " blank("ratio") " | " extra " | " f["samples"] + 0 " | " f["note"] " |"
}

function blank(key) {
	return key in f ? short(f[key]) : ""
}

function points_print(    i, first) {
	for (i = 1; i <= contender_count; i++) {
		if (!points[contenders[i]])
			continue
		if (first++)
			printf "\n\n"
		printf "\"%s\"\n", contenders[i]
		block_print(contenders[i], points[contenders[i]])
	}
}

# Sorts a block's lines by the x value at their start.
function block_print(of, count,    i, k, line) {
	for (i = 2; i <= count; i++) {
		line = block[of, i]
		for (k = i - 1; k >= 1 && block[of, k] + 0 > line + 0; k--)
			block[of, k + 1] = block[of, k]
		block[of, k + 1] = line
	}
	for (i = 1; i <= count; i++)
		print block[of, i]
}

function bars_print(    i, g, v) {
	printf "\"\""
	for (i = 1; i <= contender_count; i++)
		printf " \"%s\"", contenders[i]
	print ""
	for (g = 1; g <= group_count; g++) {
		printf "\"%s\"", (case_count > 1 ? groups[g] : lab[groups[g]])
		for (i = 1; i <= contender_count; i++) {
			v = value[groups[g], contenders[i]]
			printf " %s", (v + 0 > 0 ? v : "-")
		}
		print ""
	}
}

function pivot_print(    i, g, head, rule, row) {
	head = "| where | case |"
	rule = "|---|---|"
	for (i = 1; i <= contender_count; i++) {
		head = head " " contenders[i] " |"
		rule = rule "---:|"
	}
	print head " cores |"
	print rule "---|"
	for (g = 1; g <= group_count; g++) {
		row = "| " lab[groups[g]] " | " name[groups[g]] " |"
		for (i = 1; i <= contender_count; i++)
			row = row " " text[groups[g], contenders[i]] " |"
		print row " " cores[groups[g]] " |"
	}
	if (metric_count > 1)
		return
	print ""
	printf "%s in %s", metric, unit
	if (metric ~ /^round trip/)
		printf ", then its 99th percentile"
	if (cpu_unit != "")
		printf " (CPU of %s in %s)", metric ~ /^allreduce/ ? \
			"all ranks, and of the whole machine," : "the near + the far end", cpu_unit
	print noted ? "; *: not every run came to its end in time." : "."
}

END {
	if (mode == "points" || mode == "gains" || mode == "routes")
		points_print()
	if (mode == "bars" && group_count)
		bars_print()
	if (mode == "pivot" && group_count)
		pivot_print()
}
