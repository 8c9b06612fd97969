-- SPDX-License-Identifier: BSD-3-Clause
-- A Wireshark dissector of in-network computing (docs/reference/wire.md, "In-network computing") inside
-- RoCEv2, which Wireshark decodes. Also computes the ICRC of every RoCEv2 packet over IPv4;
-- Wireshark does not check it.
--
--   wireshark -X lua_script:tools/inc.lua CAPTURE        or copy it to the personal Lua plugins
--   tshark -X lua_script:tools/inc.lua -r CAPTURE -O inc

local inc = Proto("inc", "In-network computing of Direct xPU")
local icrc = Proto("inc_icrc", "RoCEv2 invariant CRC")

local TAG = 0x44585049
local HEADER_BYTES = 32
local COMPAT_TAG = 0xff3344f4 -- of the compatible format
local COMPAT_COMM = 0xffff
local COMPAT_KINDS = { [0] = "query", "notify", "notified", "kill", "renew" }
local ELEMENTS_SHOWN = 64
local UNCUT_BYTES = 9216 -- bytes: maximum packet of a segmentation batch

local KINDS = {
	[1] = "data", [2] = "refused", [3] = "query", [4] = "notify", [5] = "notified",
	[6] = "kill", [7] = "renew", [8] = "freeze", [9] = "frozen", [10] = "fetch",
	[11] = "fetched", [12] = "inquire", [13] = "answer", [14] = "await", [15] = "awaited",
}
local FLAGS = {
	{ "result", "Result, down (RESULT)" }, { "switch", "From a switch (SWITCH)" },
	{ "repeat", "Sent again (REPEAT)" }, { "short", "Short call (SHORT)" },
	{ "train", "Cut by GSO (TRAIN)" }, { "last", "Last of its call (LAST)" },
}
local COLLECTIVES = {
	[0] = "none", [1] = "allreduce", [2] = "reduce", [3] = "broadcast", [4] = "barrier",
}
local OPERATIONS = {
	[0] = "none", [1] = "sum", [2] = "prod", [3] = "min", [4] = "max", [5] = "land",
	[6] = "lor", [7] = "lxor", [8] = "band", [9] = "bor", [10] = "bxor", [11] = "minloc",
	[12] = "maxloc",
}
-- TYPE = { name, bytes, display }; display is a method of TvbRange, or nil for plain bytes.
local TYPES = {
	[0] = { "bytes", 1 }, [1] = { "int8", 1, "le_int" }, [2] = { "int16", 2, "le_int" },
	[3] = { "int32", 4, "le_int" }, [4] = { "int64", 8, "le_int64" },
	[5] = { "uint8", 1, "le_uint" }, [6] = { "uint16", 2, "le_uint" },
	[7] = { "uint32", 4, "le_uint" }, [8] = { "uint64", 8, "le_uint64" },
	[9] = { "fp16", 2 }, [10] = { "bf16", 2 }, [11] = { "float", 4, "le_float" },
	[12] = { "double", 8, "le_float" }, [13] = { "int32+int", 8 },
	[14] = { "int64+int", 16 }, [15] = { "float+int", 8 }, [16] = { "double+int", 16 },
}
local TYPE_NAMES = {}
for value, type in pairs(TYPES) do
	TYPE_NAMES[value] = type[1]
end
local MODES = { [0] = "node", [1] = "socket", [2] = "flat" }
local CAUSES = {
	[0] = "nothing", [1] = "no free group", [2] = "no memory for the group's aggregators",
	[3] = "too many hosts below one switch", [4] = "tree too deep",
	[5] = "group id in use by another job", [6] = "switch is being drained",
	[7] = "no route to the switch above",
	[8] = "request from an address that is not in it",
	[9] = "the switch does not support the group's mode",
}
local SECTIONS = { [1] = "switch", [2] = "groups", [3] = "refusals" }

-- ---- fields ----

local fields, declared = {}, {}

-- Declares inc.NAME; kind is a method of ProtoField.
local function field(name, title, kind, ...)
	fields[name] = ProtoField[kind]("inc." .. name, title, ...)
	declared[#declared + 1] = fields[name]
end

local UINT = { "uint8", "uint16", nil, "uint32", nil, nil, nil, "uint64" }

-- Declares the consecutive fields of a layout under one prefix. Each entry is { name, bytes, title,
-- kind }. kind: "ip", "hex", "string", a table of values, or nil for a number. An entry without a
-- name is skipped.
local function layout(prefix, run)
	for _, one in ipairs(run) do
		local name, bytes, title, kind = one[1], one[2], one[3], one[4]
		if name and kind == "ip" then
			field(prefix .. name, title, "ipv4")
		elseif name and kind == "string" then
			field(prefix .. name, title, "string")
		elseif name then
			field(prefix .. name, title, UINT[bytes], kind == "hex" and base.HEX or base.DEC,
				type(kind) == "table" and kind or nil)
		end
		if name then
			one.field = fields[prefix .. name]
		end
	end
	return run
end

local HEADER = layout("", {
	{ "tag", 4, "Tag", "hex" }, { "src_rank", 4, "From rank" }, { "comm_id", 4, "Group", "hex" },
	{ "epoch", 2, "Epoch" }, { "op_code", 1, "Operation", OPERATIONS },
	{ "oper_and_type", 1, "Type", TYPE_NAMES }, { "req_id", 4, "Segment" },
	{ "call_elements", 4, "Elements of the call" }, { "pkt_para_num", 2, "Elements here" },
	{ "root", 2, "Root" }, { "kind", 1, "Kind", KINDS }, { "flags", 1, "Flags", "hex" },
	{ "status", 1, "Status negated" }, { "collective", 1, "Collective", COLLECTIVES },
})
for number, flag in ipairs(FLAGS) do
	field("flags." .. flag[1], flag[2], "bool", 8, nil, 2 ^ (number - 1))
end
field("element", "Element", "string")
field("payload", "Payload", "bytes")

local CONTROL = layout("control.", {
	{ "master_num", 1, "Mode", MODES }, { "hop", 1, "Switches crossed" },
	{ "sup_comm_type", 1, "Collectives", "hex" }, { "fail_cause", 1, "Cause", CAUSES },
	{ "sup_op", 4, "Operations", "hex" }, { "sup_type", 4, "Types", "hex" },
	{ "segment_bytes", 2, "Bytes of a segment" }, { "window", 2, "Window" },
	{ "planes", 1, "Planes (1 user, 2 kernel)" }, { "path_count", 1, "Switches in the path" },
	{ "member_port", 2, "Member's source port" }, { "members", 4, "Members" },
	{ "true_comm_id", 4, "Group", "hex" }, { "qkey", 4, "Q_Key of data", "hex" },
	{ "free_groups", 4, "Free groups" }, { "lease_ms", 4, "Lease in ms" },
	{ "job_id", 8, "Job", "hex" }, { "c_id", 4, "Communicator" },
	{ "world_rank", 4, "World rank" }, { "member_ip", 4, "Member", "ip" },
	{ "first_ip", 4, "Member 0", "ip" }, { "cause_ip", 4, "Who refused", "ip" },
	{ "first_port", 2, "Member 0's source port" }, { nil, 2 },
})
local HOP = layout("hop.", {
	{ "ip", 4, "Switch", "ip" }, { "children", 2, "Children" }, { "index", 2, "Index" },
})
local PEER = layout("peer.", { { "member", 4, "Member" }, { "next", 4, "Next segment" } })
local INQUIRY = layout("inquiry.", {
	{ "section", 1, "Section", SECTIONS }, { nil, 3 }, { "first", 4, "First row" },
})
local ANSWER = layout("answer.", {
	{ "section", 1, "Section", SECTIONS }, { "count", 1, "Rows here" }, { nil, 2 },
	{ "total", 4, "Rows" }, { "first", 4, "First row" },
})
local ROWS = {
	layout("switch.", {
		{ "name", 32, "Name", "string" }, { "ip", 4, "Address", "ip" },
		{ "parent1", 4, "Parent", "ip" }, { "parent2", 4, "Parent", "ip" },
		{ "parent3", 4, "Parent", "ip" }, { "parent4", 4, "Parent", "ip" },
		{ "groups", 4, "Groups" }, { "groups_max", 4, "Groups at most" },
		{ "uptime_ms", 8, "Up for ms" }, { "memory_bytes", 8, "Memory of slots" },
		{ "memory_max", 8, "Memory at most" }, { "received", 8, "Received" },
		{ "sent", 8, "Sent" }, { "contributions", 8, "Contributions" },
		{ "results", 8, "Results" }, { "repeats", 8, "Repeats" },
		{ "duplicates", 8, "Duplicates" }, { "stale", 8, "Stale" },
		{ "foreign", 8, "Foreign" }, { "malformed", 8, "Malformed" },
		{ "icrc_wrong", 8, "ICRC wrong" }, { "refused", 8, "Refused" },
		{ "kernel_contributions", 8, "Contributions (kernel)" },
		{ "kernel_results", 8, "Results (kernel)" },
		{ "kernel_passed", 8, "Passed by the kernel" }, { "limited", 8, "Not answered" },
		{ "expired", 8, "Groups expired" },
		{ "forwarded_queued", 8, "Forwarded, queued" },
		{ "computed_queued", 8, "Computed, queued" },
		{ "forwarded_first", 8, "Forwarded, before computed" },
		{ "computed_first", 8, "Computed, before forwarded" },
		{ "forwarded_dropped", 8, "Forwarded, dropped" },
		{ "computed_dropped", 8, "Computed, dropped" },
		{ "planes", 1, "Planes (1 user, 2 kernel)" },
		{ "parent_count", 1, "Parents" },
	}),
	layout("group.", {
		{ "id", 4, "Group", "hex" }, { "members", 4, "Members" },
		{ "children", 4, "Children" }, { "children_here", 4, "Children known" },
		{ "parent_ip", 4, "Parent", "ip" }, { "epoch", 2, "Epoch" },
		{ "planes", 1, "Planes (1 user, 2 kernel)" }, { "master_num", 1, "Mode", MODES },
		{ "job_id", 8, "Job", "hex" }, { "age_ms", 8, "Age in ms" },
		{ "idle_ms", 8, "Idle for ms" }, { "lease_ms", 8, "Lease in ms" },
		{ "world_rank", 4, "World rank" }, { "slots", 4, "Slots" },
		{ "slots_busy", 4, "Slots in use" }, { "contributions", 8, "Contributions" },
		{ "results", 8, "Results" }, { "repeats", 8, "Repeats" },
		{ "mismatches", 8, "Mismatches" },
	}),
	layout("refusal.", {
		{ "last_ip", 4, "Who was refused last", "ip" }, { "last_group", 4, "Group", "hex" },
		{ "count", 8, "Count" }, { "last_ms_ago", 8, "Last, ms ago" },
		{ "cause", 1, "Cause", CAUSES },
	}),
}
local COMPAT_HEADER = layout("compat.", {
	{ "tag", 4, "Tag", "hex" }, { "src_rank", 4, "From rank" }, { "comm_id", 2, "Group", "hex" },
	{ "op_code", 1, "Operation", OPERATIONS }, { "oper_and_type", 1, "Type", TYPE_NAMES },
	{ "req_id", 1, "Low bits of the segment" }, { "pkt_para_num", 2, "Elements here" },
})
local COMPAT_CONTROL = layout("compat.", {
	{ "sup_mpi_type", 2, "Modes", "hex" }, { "fail_cause", 1, "Cause", CAUSES },
	{ "master_num", 1, "Mode", MODES }, { "query_notify_hop", 1, "Kind and switches", "hex" },
	{ "sup_comm_type", 1, "Collectives", "hex" }, { "sup_allreduce_op", 2, "Operations", "hex" },
	{ "sup_data_type", 2, "Types", "hex" }, { "sup_max_data_size", 2, "Bytes of a packet" },
	{ "global_group_size", 2, "Members" }, { "local_group_size", 2, "Children of the first switch" },
	{ "true_comm_id", 4, "Group", "hex" }, { "ava_grp_num", 4, "Free groups" },
	{ "dst_rank", 4, "To rank" }, { "tor1_ip", 4, "Switch 1", "ip" },
	{ "spine_ip", 4, "Switch 2", "ip" }, { "tor2_ip", 4, "Switch 3", "ip" },
	{ "job_id", 8, "Job", "hex" }, { "c_id", 4, "Communicator" }, { "world_rank", 4, "World rank" },
	{ "qkey", 4, "Q_Key of data", "hex" }, { "lease_ms", 4, "Lease in ms" },
	{ "member_ip", 4, "Member", "ip" }, { "first_ip", 4, "Member 0", "ip" },
	{ "cause_ip", 4, "Who refused", "ip" }, { "member_port", 2, "Member's source port" },
	{ "first_port", 2, "Member 0's source port" }, { "epoch", 2, "Epoch" },
	{ "status", 2, "Status negated" }, { "children1", 2, "Children of switch 1" },
	{ "children2", 2, "Children of switch 2" }, { "children3", 2, "Children of switch 3" },
	{ "index1", 2, "Index below switch 1" }, { "index2", 2, "Index below switch 2" },
	{ "index3", 2, "Index below switch 3" },
})
inc.fields = declared

local experts = {
	malformed = ProtoExpert.new("inc.malformed", "Not a sound packet", expert.group.MALFORMED,
		expert.severity.ERROR),
	again = ProtoExpert.new("inc.retransmission", "Sent again", expert.group.SEQUENCE,
		expert.severity.NOTE),
	refused = ProtoExpert.new("inc.refused", "Ended with a status", expert.group.RESPONSE_CODE,
		expert.severity.WARN),
}
inc.experts = { experts.malformed, experts.again, experts.refused }

-- ---- payloads ----

-- Adds the fields of a layout from offset `at`; returns the offset after the last one.
local function add_run(tree, tvb, at, run)
	for _, one in ipairs(run) do
		if one.field then
			tree:add(one.field, tvb(at, one[2]))
		end
		at = at + one[2]
	end
	return at
end

local function run_bytes(run)
	local bytes = 0
	for _, one in ipairs(run) do
		bytes = bytes + one[2]
	end
	return bytes
end

local function elements_add(tree, tvb, at, type, count)
	local bytes = type[2]
	for i = 0, math.min(count, ELEMENTS_SHOWN) - 1 do
		local range = tvb(at + i * bytes, bytes)
		local value = type[3] and tostring(range[type[3]](range)) or tostring(range:bytes())
		tree:add(fields.element, range, value)
	end
end

local bodies = {}

function bodies.data(tvb, tree)
	local type, count = TYPES[tvb(15, 1):uint()], tvb(24, 2):uint()
	local bytes = tvb:reported_len() - HEADER_BYTES
	if bytes == 0 or not type then
		return HEADER_BYTES
	end
	local used = count * type[2]
	local data = tree:add(fields.payload, tvb(HEADER_BYTES, used))
	elements_add(data, tvb, HEADER_BYTES, type, count)
	return HEADER_BYTES + used
end
bodies.fetched = bodies.data

function bodies.control(tvb, tree)
	local at = add_run(tree, tvb, HEADER_BYTES, CONTROL)
	for i = 0, tvb(HEADER_BYTES + 17, 1):uint() - 1 do
		local hop = tree:add(inc, tvb(at, 8), "Switch " .. i)
		at = add_run(hop, tvb, at, HOP)
	end
	return at
end
for _, name in ipairs({ "query", "notify", "notified", "kill", "renew" }) do
	bodies[name] = bodies.control
end

function bodies.peer(tvb, tree)
	return add_run(tree, tvb, HEADER_BYTES, PEER)
end
for _, name in ipairs({ "freeze", "frozen", "fetch", "await", "awaited" }) do
	bodies[name] = bodies.peer
end

function bodies.inquire(tvb, tree)
	return add_run(tree, tvb, HEADER_BYTES, INQUIRY)
end

function bodies.answer(tvb, tree)
	local row = ROWS[tvb(HEADER_BYTES, 1):uint()]
	local at = add_run(tree, tvb, HEADER_BYTES, ANSWER)
	for i = 1, row and tvb(HEADER_BYTES + 1, 1):uint() or 0 do
		at = add_run(tree:add(inc, tvb(at, run_bytes(row)), "Row " .. i), tvb, at, row)
	end
	return at
end

-- ---- the packet ----

local function info_of(tvb, kind)
	local result = bit.band(tvb(29, 1):uint(), 1) == 1
	local text = { kind }
	if kind == "data" or kind == "fetched" then
		text = { COLLECTIVES[tvb(31, 1):uint()] or "?", result and "result" or "contribution" }
		if tvb(14, 1):uint() ~= 0 then
			text[#text + 1] = OPERATIONS[tvb(14, 1):uint()] or "?"
			text[#text + 1] = string.format("%d x %s", tvb(24, 2):uint(),
				TYPE_NAMES[tvb(15, 1):uint()] or "?")
		end
		text[#text + 1] = string.format("segment %d", tvb(16, 4):uint())
	end
	if tvb(8, 4):uint() ~= 0xffffffff then
		text[#text + 1] = string.format("group %08x", tvb(8, 4):uint())
	end
	text[#text + 1] = string.format("rank %d", tvb(4, 4):uint())
	if tvb(30, 1):uint() ~= 0 then
		text[#text + 1] = string.format("status -%d", tvb(30, 1):uint())
	end
	return table.concat(text, ", ")
end

function inc.dissector(tvb, pinfo, root)
	local tree = root:add(inc, tvb())
	pinfo.cols.protocol = "INC"
	if tvb:len() < HEADER_BYTES then
		pinfo.cols.info = "Malformed"
		tree:add_proto_expert_info(experts.malformed)
		return
	end
	local kind = KINDS[tvb(28, 1):uint()]
	tree:append_text(", " .. (kind or "unknown"))
	add_run(tree, tvb, 0, HEADER)
	for _, flag in ipairs(FLAGS) do
		tree:add(fields["flags." .. flag[1]], tvb(29, 1))
	end
	if bit.band(tvb(29, 1):uint(), 4) ~= 0 then
		tree:add_proto_expert_info(experts.again)
	end
	if tvb(30, 1):uint() ~= 0 then
		tree:add_proto_expert_info(experts.refused)
	end
	-- Decoding fails if the payload is too short for its kind. A pad may follow the payload.
	local good, used = true, HEADER_BYTES
	if bodies[kind] then
		good, used = pcall(bodies[kind], tvb, tree)
	end
	local sound = kind and good and tvb:reported_len() - used < 4
	if not sound and tvb:len() == tvb:reported_len() then
		tree:add_proto_expert_info(experts.malformed)
	end
	pinfo.cols.info = info_of(tvb, kind or "unknown kind")
end

-- ---- the compatible format ----

local compat_bodies = {}

function compat_bodies.control(tvb, tree, at)
	return add_run(tree, tvb, at, COMPAT_CONTROL)
end

function compat_bodies.data(tvb, tree, at)
	local type, count = TYPES[tvb(11, 1):uint()], tvb(13, 2):uint()
	if count == 0 then
		return at
	end
	local used = count * type[2]
	elements_add(tree:add(fields.payload, tvb(at, used)), tvb, at, type, count)
	return at + used
end

local function compat_dissect(tvb, pinfo, root)
	local tree = root:add(inc, tvb(), "In-network computing, compatible format")
	pinfo.cols.protocol = "INC"
	local good, at = pcall(add_run, tree, tvb, 0, COMPAT_HEADER)
	local kind = "data"
	if good and tvb(8, 2):uint() == COMPAT_COMM then
		good, at = pcall(compat_bodies.control, tvb, tree, at)
		kind = good and COMPAT_KINDS[bit.rshift(tvb(19, 1):uint(), 5)] or "unknown kind"
	elseif good then
		good, at = pcall(compat_bodies.data, tvb, tree, at)
	end
	if not good or kind == "unknown kind" or tvb:reported_len() - at >= 4 then
		tree:add_proto_expert_info(experts.malformed)
	end
	tree:append_text(", " .. kind)
	pinfo.cols.info = kind .. ", compatible format"
end

inc:register_heuristic("infiniband.payload", function(tvb, pinfo, root)
	if tvb:len() < 4 then
		return false
	end
	local tag = tvb(0, 4):uint()
	if tag == COMPAT_TAG then
		compat_dissect(tvb, pinfo, root)
	elseif tag == TAG then
		inc.dissector(tvb, pinfo, root)
	end
	return tag == COMPAT_TAG or tag == TAG
end)

-- ---- the ICRC: CRC-32 over eight bytes 0xff, the IP header and the bytes after it ----

local icrc_status = ProtoField.string("inc_icrc.status", "ICRC status")
local icrc_expert = ProtoExpert.new("inc_icrc.bad", "The ICRC is wrong", expert.group.CHECKSUM,
	expert.severity.ERROR)
icrc.fields = { icrc_status }
icrc.experts = { icrc_expert }

local ip_field, udp_field = Field.new("ip"), Field.new("udp")
local crc_field = Field.new("infiniband.invariant.crc")
local train_field = Field.new("inc.flags.train")

local crc_table = {}
for byte = 0, 255 do
	local crc = byte
	for _ = 1, 8 do
		local low = bit.band(crc, 1)
		crc = bit.rshift(crc, 1)
		if low == 1 then
			crc = bit.bxor(crc, 0xedb88320)
		end
	end
	crc_table[byte] = crc
end

local function crc_add(crc, text)
	for i = 1, #text do
		local index = bit.band(bit.bxor(crc, text:byte(i)), 0xff)
		crc = bit.bxor(bit.rshift(crc, 8), crc_table[index])
	end
	return crc
end

-- Returns the ICRC of `bytes` bytes from offset `ip`. TOS, TTL, both checksums and BTH byte 4 count
-- as ones. In a batch, Identification counts as 0, because segmentation increments it.
local function icrc_of(tvb, ip, bytes, train)
	local identification = train and "\0\0" or tvb:raw(ip + 4, 2)
	local parts = {
		"\255\255\255\255\255\255\255\255", tvb:raw(ip, 1), "\255", tvb:raw(ip + 2, 2),
		identification, tvb:raw(ip + 6, 2), "\255", tvb:raw(ip + 9, 1), "\255\255",
		tvb:raw(ip + 12, 8), tvb:raw(ip + 20, 6), "\255\255", tvb:raw(ip + 28, 4),
		"\255", tvb:raw(ip + 33, bytes - 33 - 4),
	}
	return bit.bnot(crc_add(0xffffffff, table.concat(parts))) % 4294967296
end

function icrc.dissector(tvb, pinfo, root)
	local ip, udp, crc = ip_field(), udp_field(), crc_field()
	if not (ip and udp and crc) or udp.offset ~= ip.offset + 20 then
		return
	end
	local bytes = tvb(ip.offset + 2, 2):uint()
	local train = train_field()
	train = train and train.value
	-- Skips a truncated capture, and a batch captured before segmentation.
	if bytes < 44 or tvb:len() < ip.offset + bytes or train and bytes > UNCUT_BYTES then
		return
	end
	local stored = tvb(ip.offset + bytes - 4, 4)
	local good = icrc_of(tvb, ip.offset, bytes, train) == stored:le_uint()
	local tree = root:add(icrc, stored)
	tree:add(icrc_status, stored, good and "good" or "bad"):set_generated()
	if not good then
		tree:add_proto_expert_info(icrc_expert)
	end
end

register_postdissector(icrc)
