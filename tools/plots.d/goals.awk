# SPDX-License-Identifier: BSD-3-Clause
# Prints the goals and the measured values as a markdown table. Load it after json.awk. Reads the
# rows of all benchmarks that are present. If a benchmark has no rows, its goals keep their lines in
# `page`, a file with an earlier table between <!-- goals --> and <!-- end -->. If a benchmark has
# rows but not those of a goal, the goal is omitted.
# missing is omitted.

BEGIN {
	while (page != "" && (getline line < page) > 0) {
		if (line ~ /^<!-- /)
			inside = line == "<!-- goals -->"
		if (!inside || split(line, part, / *[|] */) < 5)
			continue
		earlier[part[2]] = line
	}
}

{
	parse($0)
	ran[f["bench"]] = 1
	if (f["bench"] == "sim")
		f["lab"] = f["contender"] = ""
	else if (!("samples" in f))
		next
	if ("megabytes" in f)
		f["case"] = f["case"] ", " f["megabytes"] + 0 " MB"
	at = f["bench"] SUBSEP f["lab"] SUBSEP f["case"] SUBSEP f["contender"]
	value[at] = f["value"] + 0
	share[at] = f["ratio"] + 0
	beside[at] = f["peer_value"] + 0
	processors[at] = f["processors_gb_per_s"] + 0
	packets[at] = f["packets"] + 0
	group = f["bench"] SUBSEP f["lab"] SUBSEP f["case"]
	if (f["contender"] !~ /^(RLTP|raw UDP)/)
		others[group] = others[group] at "\n"
}

function of(bench, lab, name, contender) {
	asked = bench
	return value[bench, lab, name, contender]
}

# Returns another library's or TCP's largest (smallest) value; 0 if none ran. `but`: excluded
# contenders.
function best(bench, lab, name, smallest, but,    list, i, n, v, found, part) {
	asked = bench
	n = split(others[bench, lab, name], list, "\n")
	for (i = 1; i < n; i++) {
		split(list[i], part, SUBSEP)
		v = but != "" && part[4] ~ but ? 0 : value[list[i]]
		if (v > 0 && (!found || (smallest ? v < found : v > found)))
			found = v
	}
	return found
}

function head() {
	if (printed++)
		return
	print "| goal | wanted | measured | |"
	print "|---|---:|---:|---|"
}

# Quotient `q` must be at least `wanted`, or at most if `at_most`.
function goal(what, q, wanted, at_most) {
	head()
	printf "| %s | %s %s | %s | %s |\n", what, at_most ? "<=" : ">=", wanted, short(q),
		(at_most ? q <= wanted : q >= wanted) ? "met" : "missed"
}

# Keeps a goal's earlier line if the last queried benchmark has no rows.
function keep(what) {
	if (asked in ran || !(what in earlier))
		return
	head()
	print earlier[what]
}

# Goal for a / b, if both were measured.
function quotient(what, a, b, wanted, at_most) {
	if (a > 0 && b > 0)
		goal(what, a / b, wanted, at_most)
	else
		keep(what)
}

# Goal for a - b, if both were measured.
function difference(what, a, b, wanted, at_most) {
	if (a > 0 && b > 0)
		goal(what, a - b, wanted, at_most)
	else
		keep(what)
}

# Prints the goals for functions of a NIC on one machine.
function nic_goals(    lab, trip, served, free, i, sizes) {
	lab = "shared memory"
	trip = of("nic", lab, "NAP 8 B", "NIC embedded")
	served = of("nic", lab, "NAP 8 B", "NIC of a third process")
	quotient("NAP 8 B on one machine, to UCX shm", trip,
		 of("nic", lab, "NAP 8 B", "UCX shm"), 2, 1)
	quotient("NAP 8 B on one machine, to libfabric shm", trip,
		 of("nic", lab, "NAP 8 B", "libfabric shm"), 1, 1)
	free = of("nic", lab, "NAP 8 B", "third process, one user")
	difference("NAP 8 B, added by a third process, cores free, us", free, trip, 1, 1)
	difference("NAP 8 B, added by a third process, core shared, us", served, trip, 1, 1)
	for (i = split("1 MiB;64 KiB", sizes, ";"); i >= 1; i--)
		quotient("PUT " sizes[i] " on one machine, to memcpy",
			 of("nic", lab, "PUT " sizes[i], "NIC embedded"),
			 of("nic", lab, "PUT " sizes[i], "memcpy"), 0.9)
	quotient("descriptors, one thread, M/s",
		 of("nic", lab, "descriptors, one thread", "NIC embedded"), 1, 20)
	quotient("descriptors from core to core, M/s",
		 of("nic", lab, "messages 16 B", "NIC embedded"), 1, 20)
	quotient("8 functions after 10 MB, Jain\47s index",
		 of("nic", lab, "8 functions share, 10 MB", "NIC embedded"), 1, 0.999)
}

# Returns the switches' smallest gain over TCP's best algorithm; 0 if not measured.
function inc_gain(lab, sizes,    list, i, n, ours, tcp, least) {
	n = split(sizes, list, ";")
	for (i = 1; i <= n; i++) {
		ours = of("inc", lab, "allreduce " list[i], "switches, XDP")
		tcp = of("inc", lab, "allreduce " list[i], "TCP, best algorithm")
		if (ours <= 0 || tcp <= 0)
			return 0
		if (i == 1 || tcp / ours < least)
			least = tcp / ours
	}
	return least
}

# Prints the goals for MPI over switches that compute.
function inc_goals(    i, n, hosts, lab, short_sizes, times, share, tcp) {
	short_sizes = "8 B;16 B;32 B;64 B;128 B;256 B"
	n = split("4;9;16", hosts, ";")
	for (i = 1; i <= n; i++) {
		lab = hosts[i] " hosts"
		if (i < 3)
			quotient("allreduce 8 .. 256 B, " lab ", least gain on TCP\47s best",
				 inc_gain(lab, short_sizes), 1, i + 1)
		quotient("allreduce 8 B, " lab ", packets sent by a host",
			 packets["inc", lab, "allreduce 8 B", "switches, XDP"], hosts[i], 1.01, 1)
		quotient("allreduce 64 KiB, " lab ", gain on TCP\47s best",
			 inc_gain(lab, "64 KiB"), 1, 1)
		quotient("allreduce 1 MiB, " lab ", gain on TCP\47s best",
			 inc_gain(lab, "1 MiB"), 1, 1)
	}
	for (i = split("8 B;256 B", hosts, ";"); i >= 1; i--)
		quotient("switch hop " hosts[i] " in XDP, there and back, us",
			 of("inc", "one switch", "hop " hosts[i], "switches, XDP"), 1, 5, 1)
	share = of("inc", "9 hosts", "icoFoam, calls offloaded", "switches, XDP")
	quotient("icoFoam, 9 hosts, allreduces offloaded, %", share, 1, 99)
	quotient("icoFoam, 9 hosts, time in MPI, to TCP",
		 of("inc", "9 hosts", "icoFoam, time in MPI", "switches, XDP"),
		 of("inc", "9 hosts", "icoFoam, time in MPI", "TCP, default"), 1, 1)
}

# Goals for bridged memory behind DMA.
function bridge_goals(    lab, i, routes, ways, name) {
	lab = "loopback"
	split("host to device;device to host;round trip;device to device", routes, ";")
	split("PUT;GET;;SEND", ways, ";")
	for (i = 1; i <= 4; i++) {
		name = routes[i] " 512 MiB"
		of("bridge", lab, name, "pipelined")
		quotient("bridge, " name ", to the slowest stage",
			 share["bridge", lab, name, "pipelined"], 1, 0.9)
		quotient("bridge, " name ", to what the processors allow",
			 value["bridge", lab, name, "pipelined"],
			 processors["bridge", lab, name, "pipelined"], 0.9)
		if (ways[i] != "")
			quotient("bridge, " name " by " ways[i] ", to the slowest stage",
				 share["bridge", lab, name, ways[i]], 1, 0.9)
	}
	name = "memory, 1024 MiB"
	difference("bridge, memory that transfers of 1 GiB add to a daemon, MB",
		   of("bridge", lab, name, "during transfers"),
		   beside["bridge", lab, name, "during transfers"], 16, 1)
}

# Goals for the simulated bridge on the source's machine (SBDT).
function bridge_sim_goals(    i, k, n, routes, name, ours) {
	n = split("host to device;device to host;round trip", routes, ";")
	for (i = 1; i <= n; i++)
		for (k = 512; k >= 32; k -= 480) {
			name = routes[i] " " k " MiB"
			of("bridge-sim", "simulated", name, "8 MiB")
			quotient("bridge simulated, " name ", to the slowest stage",
				 share["bridge-sim", "simulated", name, "8 MiB"], 1,
				 k == 512 ? 0.97 : 0.9)
		}
	n = split("full rates", routes, ";")
	for (i = 1; i <= n; i++) {
		name = "round trip 320 MB, " routes[i]
		ours = of("bridge-sim", "simulated", name, "pipelined, simulated")
		quotient("bridge simulated, " name ", to the naive version", ours,
			 beside["bridge-sim", "simulated", name, "pipelined, simulated"], 5.9)
	}
}

END {
	for (i = split("1 MiB, 8 at a time;64 MiB, 1 at a time", sizes, ";"); i >= 1; i--) {
		put = "PUT " sizes[i]
		ours = of("stream", "veth-1500", put, "RLTP")
		quotient(put ", veth-1500, to raw UDP", ours,
			 of("stream", "veth-1500", put, "raw UDP GSO+GRO"), 0.8)
		quotient(put ", veth-1500, to TCP", ours,
			 of("stream", "veth-1500", put, "TCP cubic"), 1.2)
	}
	lossless = of("loss", "wire-1500", "PUT 1 MiB, 0 %", "RLTP rack")
	one = of("loss", "wire-1500", "PUT 1 MiB, 1 %", "RLTP rack")
	ten = of("loss", "wire-1500", "PUT 1 MiB, 10 %", "RLTP rack")
	quotient("1 % loss, to the best peer", one,
		 best("loss", "wire-1500", "PUT 1 MiB, 1 %"), 1.7)
	quotient("10 % loss, to the best peer", ten,
		 best("loss", "wire-1500", "PUT 1 MiB, 10 %"), 4)
	simulated = of("sim", "", "loss 0 rack swift 1", "")
	quotient("simulated, 1 % loss to none", of("sim", "", "loss 1 rack swift 1", ""), simulated,
		 0.96)
	quotient("simulated, 10 % loss to none", of("sim", "", "loss 10 rack swift 1", ""),
		 simulated, 0.85)
	quotient("64 B ping-pong at 1 % loss, mean us",
		 of("loss", "wire-1500", "ping 64 B, 1 %", "RLTP"), 1, 10, 1)
	for (i = split("loopback veth-1500", labs, " "); i >= 1; i--) {
		ours = of("latency", labs[i], "PUT 4 B", "RLTP")
		quotient("PUT 4 B, " labs[i] ", to raw UDP", ours,
			 of("latency", labs[i], "PUT 4 B", "raw UDP, spinning"), 1.25, 1)
		quotient("PUT 4 B, " labs[i] ", to the fastest of libfabric and UCX", ours,
			 best("latency", labs[i], "NAP 4 B", 1, "^TCP"), 1, 1)
		quotient("64 B NAPs, " labs[i] ", M/s",
			 of("rate", labs[i], "NAP 64 B", "RLTP"), 1, 4)
	}
	quotient("memory of an idle peer, bytes",
		 of("peers", "loopback", "memory, idle", "RLTP"), 1, 512, 1)
	nic_goals()
	inc_goals()
	bridge_goals()
	bridge_sim_goals()
}
