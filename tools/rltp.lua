-- SPDX-License-Identifier: BSD-3-Clause
-- A Wireshark dissector of RLTP and of the manager's frames (docs/reference/wire.md, docs/guide/manager.md).
-- Verifies checksums, decodes bitmaps, and marks retransmissions and NACKs.
--
--   wireshark -X lua_script:tools/rltp.lua CAPTURE        or copy it to the personal Lua plugins
--   tshark -X lua_script:tools/rltp.lua -r CAPTURE -O rltp
--
-- Recognises frames on UDP port 4795, and on other ports by version, length and checksum.

local rltp = Proto("rltp", "RLTP, the transport of Direct xPU")

local PORT = 4795
local COMMON_BYTES = 32
local DATA_BYTES = 64

local TYPES = {
	[0x01] = "HELLO", [0x02] = "HELLO_ACK", [0x03] = "RESET", [0x04] = "PING",
	[0x05] = "PONG", [0x06] = "PMTU_PROBE", [0x07] = "PMTU_ACK", [0x08] = "BYE",
	[0x09] = "REJECT", [0x0a] = "COOKIE",
	[0x10] = "ACK", [0x11] = "NACK", [0x12] = "CREDIT", [0x13] = "RESYNC",
	[0x20] = "NAP", [0x21] = "PUT", [0x22] = "GET_REQ", [0x23] = "GET_RSP",
	[0x24] = "ATOMIC", [0x25] = "ATOMIC_RSP",
	[0x26] = "CFG_RD", [0x27] = "CFG_RD_RSP", [0x28] = "CFG_WR", [0x29] = "CFG_WR_RSP",
	[0x40] = "JOIN", [0x41] = "LEASE", [0x42] = "RENEW", [0x43] = "LEAVE",
	[0x44] = "NODE_TABLE", [0x45] = "NODE_DELTA", [0x46] = "TABLE_ACK", [0x47] = "ASSIGN",
	[0x48] = "REFUSE", [0x49] = "STATUS", [0x4a] = "ANSWER", [0x4b] = "STATS",
	[0x4c] = "STATS_PAGE", [0x4d] = "CHANNEL", [0x52] = "PROBE", [0x53] = "PROBE_REPLY",
	[0x50] = "GRANTS", [0x51] = "GRANTS_PAGE",
	[0x54] = "EVENTS", [0x55] = "EVENTS_PAGE", [0x56] = "REPORT",
}
local FLAGS = {
	{ "ar", "Acknowledge at once (AR)" }, { "ackv", "cum_ack is valid (ACKV)" },
	{ "rtx", "Retransmission (RTX)" }, { "first", "First packet (FIRST)" },
	{ "last", "Last packet (LAST)" }, { "sol", "Raise an event (SOL)" },
	{ "fence", "FENCE" }, { "imm", "Immediate data (IMM)" },
	{ "nack", "New gap (NACK)" }, { "bmp", "Bitmap follows (BMP)" },
	{ "probe", "Probe (PROBE)" }, { "crcp", "Checksum covers all (CRCP)" },
	{ "credit", "Credit fields are valid (CREDIT)" },
	{ "trailer", "Trailer (TRAILER)" },
}
local GRANT_RULES = { [1] = "any host may use any xPU", [2] = "explicit" }
local REFUSALS = {
	[0] = "none", [1] = "receiver not ready", [2] = "outside the window",
	[3] = "unknown session", [4] = "bad key", [5] = "bad magic", [6] = "out of bounds",
	[7] = "not permitted", [8] = "limit exceeded", [9] = "closing", [10] = "bad version",
	[11] = "unsupported", [12] = "held for the device", [13] = "device failed",
	[14] = "wait for a grant", [15] = "other protection",
}
local ATOMICS = {
	[16] = "FETCH_ADD", [17] = "COMPARE_SWAP", [18] = "FETCH_MIN", [19] = "FETCH_MAX",
	[20] = "FETCH_AND", [21] = "FETCH_OR", [22] = "FETCH_XOR",
}
local PROTECTIONS = { [0] = "none", [1] = "integrity", [2] = "encrypt" }
local RECOVERIES = { [0] = "rack", [1] = "irn", [2] = "gbn_nak", [3] = "gbn_rto" }
local KINDS = { [0] = "gone", [1] = "host", [2] = "xPU", [3] = "revoked" }
local ROLES = { [1] = "host", [2] = "xPU", [3] = "operator" }
local STEPS = { [1] = "OPEN", [2] = "OPENED", [3] = "REQUEST", [4] = "ANSWER" }
local STATS_PARTS = { [1] = "node", [2] = "queue pairs", [3] = "sessions", [4] = "service", [5] = "paths" }
local STATS_ROLES = { [1] = "manager", [2] = "switch" }
local ACTIONS = { [1] = "grant", [2] = "revoke" }

-- ---- fields ----

local fields = {}

-- Declares rltp.NAME; kind is a method of ProtoField.
local function field(name, title, kind, ...)
	fields[name] = ProtoField[kind]("rltp." .. name, title, ...)
end

field("version", "Version", "uint8", base.DEC, nil, 0xf0)
field("header_words", "Header length in 8 bytes", "uint8", base.DEC, nil, 0x0f)
field("type", "Type", "uint8", base.HEX, TYPES)
field("flags", "Flags", "uint16", base.HEX)
for bit_number, flag in ipairs(FLAGS) do
	field("flags." .. flag[1], flag[2], "bool", 16, nil, 2 ^ (bit_number - 1))
end
field("dst_session", "To session", "uint32", base.HEX)
field("src_node", "From node (65534 manager, 65535 none yet)", "uint16", base.DEC)
field("dst_node", "To node", "uint16", base.DEC)
field("psn", "Packet number", "uint32", base.DEC)
field("tx_ts", "Sent at (64 ns)", "uint32", base.DEC)
field("cum_ack", "Next packet expected", "uint32", base.DEC)
field("len", "Bytes after the header", "uint16", base.DEC)
field("ce_count", "Packets marked CE", "uint16", base.DEC)
field("crc", "Checksum", "uint32", base.HEX)
field("crc.status", "Checksum status", "string")
field("seal.counter", "Counter, low half", "uint32", base.DEC)
field("seal.phase", "Key phase (PHASE)", "bool", 16, nil, 0x8000)
field("seal.phase_seen", "Key phase received (PHASE_SEEN)", "bool", 16, nil, 0x4000)
field("seal.sealed", "Encrypted or authenticated", "bytes")
field("seal.tag", "Tag", "bytes")
field("dst_qp", "Queue pair", "uint16", base.DEC)
field("dst_function", "Function", "uint8", base.DEC)
field("vc_tc", "Virtual channel and class", "uint8", base.HEX)
field("qp_magic", "Queue pair's magic", "uint32", base.HEX)
field("msg_id", "Message", "uint32", base.DEC)
field("sub", "Packet of the message", "uint32", base.DEC)
field("addr", "Address", "uint64", base.HEX)
field("key", "Key", "uint32", base.HEX)
field("msg_len", "Bytes of the message", "uint32", base.DEC)
field("imm", "Immediate data", "uint64", base.HEX)
field("trailer", "Trailer", "uint64", base.HEX)
field("payload", "Payload", "bytes")

field("ack.echo_ts", "Echoed time (64 ns)", "uint32", base.DEC)
field("ack.echo_psn", "Echoed packet", "uint32", base.DEC)
field("ack.hold", "Held for (64 ns)", "uint32", base.DEC, { [0xffffffff] = "nothing arrived" })
field("ack.sack_off", "Bitmap begins at +", "uint16", base.DEC)
field("ack.sack_words", "Words of bitmap", "uint8", base.DEC)
field("ack.rx_level", "Receive buffer, of 31", "uint8", base.DEC)
field("ack.rwnd", "Receive window in packets", "uint16", base.DEC)
field("ack.dup_count", "Duplicates received", "uint16", base.DEC)
field("ack.rx_count", "Packets received", "uint32", base.DEC)
field("ack.bitmap", "Bitmap", "bytes")
field("ack.received", "Received beyond", "string")
field("ack.missing", "Packets missing before the last received", "uint32", base.DEC)

field("credit.qp", "Queue pair", "uint16", base.HEX)
field("credit.limit", "NAPs before number", "uint32", base.DEC)

field("nack.code", "Refused", "uint8", base.DEC, REFUSALS)
field("nack.qp", "Queue pair", "uint16", base.DEC)
field("nack.msg_id", "Message", "uint32", base.DEC)
field("nack.psn", "Packet number", "uint32", base.DEC)
field("nack.retry_us", "Try again after us", "uint32", base.DEC)
field("nack.called", "Packets that may come", "uint32", base.DEC)

field("hello.incarnation", "Incarnation", "uint64", base.HEX)
field("hello.epoch", "Epoch", "uint32", base.DEC)
field("hello.session", "Session", "uint32", base.HEX)
field("hello.psn", "First packet number", "uint32", base.DEC)
field("hello.rwnd", "Receive window in packets", "uint16", base.DEC)
field("hello.payload", "Largest payload", "uint16", base.DEC)
field("hello.features", "Features", "uint32", base.HEX)
field("hello.machine", "Boot of the machine, high half", "uint32", base.HEX)
field("hello.machine_low", "Boot of the machine, low half", "uint32", base.HEX)
field("hello.uuid", "UUID", "bytes")
field("hello.token", "Token", "uint64", base.HEX)
field("hello.cookie", "Cookie", "uint64", base.HEX)
field("hello.echo_session", "Answers session", "uint32", base.HEX)
field("hello.echo_psn", "Answers packet number", "uint32", base.DEC)
field("hello.nap_credit", "First NAP credits", "uint16", base.DEC)
field("hello.recovery", "Recovery", "uint8", base.DEC, RECOVERIES)
field("hello.protect", "Protection", "uint8", base.DEC, PROTECTIONS)
field("hello.key", "Ephemeral key", "bytes")
field("hello.key_tag", "Tag of the key", "bytes")
field("hello.tag", "Authentication", "bytes")

field("reset.session", "Unknown session", "uint32", base.HEX)
field("reset.code", "Reason", "uint32", base.DEC, REFUSALS)
field("reset.token", "Token", "uint64", base.HEX)
field("reject.session", "Session", "uint32", base.HEX)
field("reject.code", "Reason", "uint8", base.DEC, REFUSALS)
field("reject.protect", "Required protection", "uint8", base.DEC, PROTECTIONS)
field("reject.echo", "Answers counter", "uint16", base.DEC)
field("reject.proof", "Proof", "bytes")
field("cookie.session", "Answers session", "uint32", base.HEX)
field("cookie.psn", "Answers packet number", "uint32", base.DEC)
field("cookie.value", "Cookie", "uint64", base.HEX)
field("cookie.proof", "Proof", "bytes")
field("ping.opaque", "To be repeated", "uint64", base.HEX)
field("pmtu.id", "Probe", "uint32", base.DEC)
field("pmtu.bytes", "Bytes of UDP payload", "uint16", base.DEC)
field("bye.token", "Token", "uint64", base.HEX)
field("bye.code", "Reason", "uint32", base.DEC, REFUSALS)

field("get.reply_addr", "Answer's address", "uint64", base.HEX)
field("get.reply_key", "Answer's key", "uint32", base.HEX)
field("get.reply_msg_id", "Answer's message", "uint32", base.DEC)
field("get.length", "Bytes wanted", "uint64", base.DEC)
field("atomic.op", "Operation", "uint8", base.DEC, ATOMICS)
field("atomic.reply_msg_id", "Answer's message", "uint32", base.DEC)
field("atomic.operand", "Operand", "uint64", base.HEX)
field("atomic.swap", "Stored when found", "uint64", base.HEX)
field("atomic.status", "Ended with", "uint32", base.DEC, REFUSALS)
field("atomic.old", "Value before", "uint64", base.HEX)
field("cfg.register", "First register", "uint64", base.DEC)
field("cfg.count", "Registers", "uint32", base.DEC)
field("cfg.value", "Value", "uint32", base.HEX)
field("cfg.status", "Ended with", "uint32", base.DEC, REFUSALS)

field("manage.request", "Request", "uint64", base.DEC)
field("manage.nonce", "Nonce", "uint64", base.HEX)
field("manage.run", "Run of the manager", "uint64", base.HEX)
field("manage.epoch", "Manager's epoch", "uint64", base.HEX)
field("manage.sequence", "Sequence", "uint64", base.DEC)
field("manage.cursor", "Cursor", "uint16", base.DEC)
field("manage.lease_ns", "Lease in ns", "uint64", base.DEC)
field("manage.node", "Node", "uint16", base.DEC)
field("manage.incarnation", "Incarnation", "uint64", base.HEX)
field("manage.uuid", "UUID", "bytes")
field("manage.from", "From sequence", "uint64", base.DEC)
field("manage.to", "To sequence", "uint64", base.DEC)
field("manage.first", "First id", "uint16", base.DEC)
field("manage.next", "Next id", "uint16", base.DEC)
field("manage.rows", "Rows", "uint16", base.DEC)
field("manage.version", "Version of the grants", "uint64", base.DEC)
field("manage.action", "Action", "uint8", base.DEC, ACTIONS)
field("manage.host", "Host", "string")
field("manage.xpu", "xPU", "string")
field("manage.status", "Status", "int32", base.DEC)
field("manage.retry_ns", "Try again after ns", "uint64", base.DEC)
field("manage.text", "Text", "string")
field("probe.number", "Number of the probe", "uint64", base.HEX)
field("probe.pause_s", "Pause demanded, s", "uint8", base.DEC)
field("stats.version", "Version of the counters", "uint16", base.DEC)
field("stats.part", "Part", "uint8", base.DEC, STATS_PARTS)
field("stats.published", "Published", "uint8", base.DEC)
field("stats.first", "First row", "uint16", base.DEC)
field("stats.next", "Next row", "uint16", base.DEC)
field("grants.rule", "Rule", "uint8", base.DEC, GRANT_RULES)
field("grants.rows", "Rows", "uint8", base.DEC)
field("stats.rows", "Rows", "uint8", base.DEC)
field("stats.xpu", "xPU", "uint8", base.DEC)
field("stats.role", "Role", "uint8", base.DEC, STATS_ROLES)
field("stats.up_ns", "Time since the start, ns", "uint64", base.DEC)
field("stats.pid", "Process", "uint32", base.DEC)
field("stats.started_ns", "Started, ns", "uint64", base.DEC)
field("stats.published_ns", "Snapshot, ns", "uint64", base.DEC)
field("stats.age_ns", "Age of the snapshot, ns", "uint64", base.DEC)
field("stats.sessions", "Sessions", "uint32", base.DEC)
field("stats.name", "Name", "string")
field("stats.program", "Program", "string")
field("stats.address", "Address", "string")
field("stats.values", "Values (LEB128)", "bytes")
field("manage.mac", "MAC", "bytes")
field("row.id", "Node", "uint16", base.DEC)
field("row.kind", "Kind", "uint8", base.DEC, KINDS)
field("row.flags", "Flags (1 alive, 2 granted)", "uint8", base.HEX)
field("row.capabilities", "Capabilities", "uint32", base.HEX)
field("row.magic", "Magic of the service queue pair", "uint32", base.HEX)
field("row.incarnation", "Incarnation", "uint64", base.DEC)
field("row.memory", "Memory in bytes", "uint64", base.DEC)
field("row.uuid", "UUID", "bytes")
field("row.address", "Address", "ipv6")
field("row.port", "Port", "uint16", base.DEC)
field("row.name", "Name", "string")
field("row.engine", "Engine", "string")
field("row.device", "Device", "string")
field("row.role", "Role", "uint8", base.DEC, ROLES)
field("row.key", "Public key", "bytes")
field("manage.key", "Sender's public key", "bytes")
field("channel.id", "Channel", "uint64", base.HEX)
field("channel.number", "Request", "uint16", base.DEC)
field("channel.step", "Step", "uint8", base.DEC, STEPS)
field("channel.message", "Sealed message", "bytes")

local declared = {}
for _, one in pairs(fields) do
	declared[#declared + 1] = one
end
rltp.fields = declared

local experts = {
	crc = ProtoExpert.new("rltp.crc.bad", "The checksum is wrong", expert.group.CHECKSUM,
		expert.severity.ERROR),
	malformed = ProtoExpert.new("rltp.malformed", "Not a sound frame", expert.group.MALFORMED,
		expert.severity.ERROR),
	rtx = ProtoExpert.new("rltp.retransmission", "Retransmission", expert.group.SEQUENCE,
		expert.severity.NOTE),
	gap = ProtoExpert.new("rltp.gap", "The receiver saw a new gap", expert.group.SEQUENCE,
		expert.severity.NOTE),
	refused = ProtoExpert.new("rltp.refused", "Refused", expert.group.RESPONSE_CODE,
		expert.severity.WARN),
	reset = ProtoExpert.new("rltp.unknown_session", "The peer does not know this session",
		expert.group.RESPONSE_CODE, expert.severity.WARN),
}
local expert_list = {}
for _, one in pairs(experts) do
	expert_list[#expert_list + 1] = one
end
rltp.experts = expert_list

-- ---- checksum: CRC-32C over the header (its field zero) and, with CRCP, the bytes after it ----

local crc_table = {}
for byte = 0, 255 do
	local crc = byte
	for _ = 1, 8 do
		local low = bit.band(crc, 1)
		crc = bit.rshift(crc, 1)
		if low == 1 then
			crc = bit.bxor(crc, 0x82f63b78)
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

local function has_flag(tvb, number)
	return bit.band(tvb(2, 2):uint(), 2 ^ number) ~= 0
end

local function crc_good(tvb, header_bytes)
	-- The checksum of a truncated frame cannot be verified.
	if has_flag(tvb, 11) and tvb:len() < tvb:reported_len() then
		return true
	end
	local covered = has_flag(tvb, 11) and tvb:len() or header_bytes
	local crc = crc_add(0xffffffff, tvb:raw(0, 28) .. "\0\0\0\0")
	crc = bit.bnot(crc_add(crc, tvb:raw(32, covered - 32))) % 4294967296
	return crc == tvb(28, 4):uint()
end

local TAG_BYTES = 16

-- Frames of sessions with protection have version 2.
local function is_sealed(tvb)
	return bit.rshift(tvb(0, 1):uint(), 4) == 2
end

local function version_good(tvb)
	local type = tvb(1, 1):uint()
	if not is_sealed(tvb) then
		return bit.rshift(tvb(0, 1):uint(), 4) == 1 and tvb(2, 2):uint() < 2 ^ #FLAGS
	end
	return not has_flag(tvb, 11) and tvb(24, 2):uint() >= TAG_BYTES and type < 0x40
		and type > 0x03 and type ~= 0x09
end

-- Checks length, version and type as wire_header_decode does; returns the header's length, or nil.
local function header_length(tvb)
	if tvb:len() < COMMON_BYTES or not version_good(tvb) then
		return nil
	end
	local type, header_bytes = tvb(1, 1):uint(), bit.band(tvb(0, 1):uint(), 15) * 8
	local reliable = type == 0x13 or (type >= 0x20 and type < 0x40)
	local imm, trailer = has_flag(tvb, 7), has_flag(tvb, 13)
	local expected = not reliable and COMMON_BYTES
		or DATA_BYTES + (imm and 8 or 0) + (trailer and 8 or 0)
	-- A trailer is only valid at the end of a message that raises an event.
	local trailer_good = has_flag(tvb, 4) and (type == 0x20 or type == 0x21 and has_flag(tvb, 5))
	if not TYPES[type] or header_bytes ~= expected or (not reliable and imm)
		or (trailer and not trailer_good) or tvb:len() < header_bytes
		or tvb:reported_len() ~= header_bytes + tvb(24, 2):uint() then
		return nil
	end
	return header_bytes
end

-- ---- bodies ----

-- Adds consecutive fields from offset `at`: each { name, bytes }; skips entries without a name.
local function add_run(tree, tvb, at, run)
	for _, one in ipairs(run) do
		if one[1] then
			tree:add(fields[one[1]], tvb(at, one[2]))
		end
		at = at + one[2]
	end
	return at
end

-- Returns the received ranges of packets in a bitmap, and the number of holes before the last one.
local function bitmap_read(tvb, first, words)
	local ranges, missing, gap, start, number = {}, 0, 0, nil, first
	local function close(last)
		if start then
			ranges[#ranges + 1] = start == last and tostring(start)
				or string.format("%d-%d", start, last)
			start = nil
		end
	end
	for word = 0, words - 1 do
		for i = 0, 63 do
			local half = tvb(64 + 8 * word + (i < 32 and 4 or 0), 4):uint()
			if bit.band(bit.rshift(half, i % 32), 1) == 1 then
				start = start or number
				missing, gap = missing + gap, 0
			else
				close((number - 1) % 4294967296)
				gap = gap + 1
			end
			number = (number + 1) % 4294967296
		end
	end
	close((number - 1) % 4294967296)
	return table.concat(ranges, ", "), missing
end

local bodies = {}

function bodies.ACK(tvb, tree, info)
	local offset, words = tvb(44, 2):uint(), tvb(46, 1):uint()
	add_run(tree, tvb, 32, {
		{ "ack.echo_ts", 4 }, { "ack.echo_psn", 4 }, { "ack.hold", 4 },
		{ "ack.sack_off", 2 }, { "ack.sack_words", 1 }, { "ack.rx_level", 1 },
		{ "ack.rwnd", 2 }, { "ack.dup_count", 2 }, { "ack.rx_count", 4 },
	})
	if has_flag(tvb, 12) then
		add_run(tree, tvb, 56, { { "credit.qp", 2 }, { nil, 2 }, { "credit.limit", 4 } })
	end
	info[#info + 1] = string.format("next %d", tvb(20, 4):uint())
	if words > 0 then
		local first = (tvb(20, 4):uint() + offset) % 4294967296
		local received, missing = bitmap_read(tvb, first, words)
		tree:add(fields["ack.bitmap"], tvb(64, 8 * words))
		tree:add(fields["ack.received"], tvb(64, 8 * words), received):set_generated()
		-- Excludes packets between cum_ack and the bitmap's start: their state is unknown.
		tree:add(fields["ack.missing"], tvb(64, 8 * words), missing):set_generated()
		info[#info + 1] = "and " .. received
	end
	if has_flag(tvb, 8) then
		tree:add_proto_expert_info(experts.gap)
	end
end

function bodies.NACK(tvb, tree, info)
	add_run(tree, tvb, 32, {
		{ "nack.code", 1 }, { nil, 1 }, { "nack.qp", 2 }, { "nack.msg_id", 4 },
		{ "nack.psn", 4 }, { tvb(32, 1):uint() == 14 and "nack.called" or "nack.retry_us", 4 },
	})
	local why = REFUSALS[tvb(32, 1):uint()] or "for an unknown reason"
	info[#info + 1] = string.format("packet %d: %s", tvb(40, 4):uint(), why)
	tree:add_proto_expert_info(experts.refused, "Refused: " .. why)
end

function bodies.CREDIT(tvb, tree, info)
	info[#info + 1] = has_flag(tvb, 0) and "asks" or "grants"
	for at = 32, tvb:len() - 8, 8 do
		local entry = tree:add(tvb(at, 8), string.format("Function %d, queue pair %d",
			tvb(at, 1):uint(), tvb(at + 1, 1):uint()))
		add_run(entry, tvb, at, { { "credit.qp", 2 }, { nil, 2 }, { "credit.limit", 4 } })
		info[#info + 1] = string.format("%d.%d < %d", tvb(at, 1):uint(),
			tvb(at + 1, 1):uint(), tvb(at + 4, 4):uint())
	end
end

function bodies.HELLO(tvb, tree, info)
	add_run(tree, tvb, 32, {
		{ "hello.incarnation", 8 }, { "hello.epoch", 4 }, { "hello.session", 4 },
		{ "hello.psn", 4 }, { "hello.rwnd", 2 }, { "hello.payload", 2 },
		{ "hello.features", 4 }, { "hello.machine", 4 }, { "hello.uuid", 16 },
		{ "hello.token", 8 },
	})
	if tvb(1, 1):uint() == 1 then
		tree:add(fields["hello.cookie"], tvb(88, 8))
	else
		add_run(tree, tvb, 88, { { "hello.echo_session", 4 }, { "hello.echo_psn", 4 } })
	end
	add_run(tree, tvb, 96, {
		{ "hello.nap_credit", 2 }, { "hello.recovery", 1 }, { "hello.protect", 1 },
		{ "hello.machine_low", 4 },
	})
	if tvb(99, 1):uint() == 0 then
		tree:add(fields["hello.tag"], tvb(104, 16))
	else
		add_run(tree, tvb, 104, { { "hello.key", 32 }, { "hello.key_tag", 16 }, { "hello.tag", 16 } })
	end
	info[#info + 1] = string.format("session 0x%08x epoch %d", tvb(44, 4):uint(),
		tvb(40, 4):uint())
end
bodies.HELLO_ACK = bodies.HELLO

function bodies.REJECT(tvb, tree, info)
	add_run(tree, tvb, 32, {
		{ "reject.session", 4 }, { "reject.code", 1 }, { "reject.protect", 1 },
		{ "reject.echo", 2 }, { "reject.proof", 16 },
	})
	local why = REFUSALS[tvb(36, 1):uint()] or "for an unknown reason"
	info[#info + 1] = string.format("session 0x%08x: %s", tvb(32, 4):uint(), why)
	tree:add_proto_expert_info(experts.refused, "Refused: " .. why)
end

function bodies.COOKIE(tvb, tree, info)
	add_run(tree, tvb, 32, {
		{ "cookie.session", 4 }, { "cookie.psn", 4 }, { "cookie.value", 8 }, { "cookie.proof", 16 },
	})
	info[#info + 1] = string.format("session 0x%08x: a cookie for its HELLO",
		tvb(32, 4):uint())
end

function bodies.RESET(tvb, tree, info)
	add_run(tree, tvb, 32, { { "reset.session", 4 }, { "reset.code", 4 }, { "reset.token", 8 } })
	info[#info + 1] = string.format("session 0x%08x", tvb(32, 4):uint())
	tree:add_proto_expert_info(experts.reset)
end

function bodies.PING(tvb, tree)
	tree:add(fields["ping.opaque"], tvb(32, 8))
end
bodies.PONG = bodies.PING

function bodies.PMTU_PROBE(tvb, tree, info)
	add_run(tree, tvb, 32, { { "pmtu.id", 4 }, { "pmtu.bytes", 2 } })
	info[#info + 1] = string.format("%d bytes", tvb(36, 2):uint())
end
bodies.PMTU_ACK = bodies.PMTU_PROBE

function bodies.BYE(tvb, tree)
	add_run(tree, tvb, 32, { { "bye.token", 8 }, { "bye.code", 4 } })
end

function bodies.GET_REQ(tvb, tree, _, at)
	add_run(tree, tvb, at, {
		{ "get.reply_addr", 8 }, { "get.reply_key", 4 }, { "get.reply_msg_id", 4 },
		{ "get.length", 8 },
	})
end

function bodies.ATOMIC(tvb, tree, info, at)
	add_run(tree, tvb, at, {
		{ "atomic.op", 1 }, { nil, 3 }, { "atomic.reply_msg_id", 4 }, { "atomic.operand", 8 },
		{ "atomic.swap", 8 },
	})
	info[#info + 1] = ATOMICS[tvb(at, 1):uint()] or "unknown operation"
end

function bodies.ATOMIC_RSP(tvb, tree, _, at)
	tree:add(fields["atomic.status"], tvb(56, 4))
	if tvb:len() > at then
		tree:add(fields["atomic.old"], tvb(at, 8))
	end
end

local function register_add(tree, tvb)
	tree:add(fields["cfg.register"], tvb(48, 8), tvb(48, 8):uint64() / 4):set_generated()
end

local function values_add(tree, tvb, at)
	for value = at, tvb:len() - 4, 4 do
		tree:add(fields["cfg.value"], tvb(value, 4))
	end
end

function bodies.CFG_RD(tvb, tree, _, at)
	register_add(tree, tvb)
	tree:add(fields["cfg.count"], tvb(at, 4))
end

function bodies.CFG_WR(tvb, tree, _, at)
	register_add(tree, tvb)
	values_add(tree, tvb, at)
end

function bodies.CFG_RD_RSP(tvb, tree, _, at)
	tree:add(fields["cfg.status"], tvb(56, 4))
	values_add(tree, tvb, at)
end
bodies.CFG_WR_RSP = bodies.CFG_RD_RSP

-- ---- the manager's frames ----

-- Adds a length and that many characters; returns the offset after them.
local function text_add(tree, tvb, at, name)
	local bytes = tvb(at, 1):uint()
	tree:add(fields[name], tvb(at + 1, bytes))
	return at + 1 + bytes
end

local function row_add(tree, tvb, at)
	local row = tree:add(tvb(at, 3), string.format("Row: node %d", tvb(at, 2):uint()))
	at = add_run(row, tvb, at, { { "row.id", 2 }, { "row.kind", 1 } })
	local kind = tvb(at - 1, 1):uint()
	if kind == 0 or kind == 3 then
		return at
	end
	local keyed = tvb(at, 1):uint() % 8 >= 4
	at = add_run(row, tvb, at, {
		{ "row.flags", 1 }, { "row.capabilities", 4 }, { "row.magic", 4 },
		{ "row.incarnation", 8 }, { "row.memory", 8 }, { "row.uuid", 16 },
		{ "row.address", 16 }, { "row.port", 2 },
	})
	at = text_add(row, tvb, at, "row.name")
	at = text_add(row, tvb, at, "row.engine")
	at = text_add(row, tvb, at, "row.device")
	return keyed and add_run(row, tvb, at, { { "row.role", 1 }, { "row.key", 32 } }) or at
end

-- Adds the sender's public key before the MAC, if dst_session states that there is one.
local function key_add(tree, tvb)
	if tvb(4, 4):uint() == 1 then
		tree:add(fields["manage.key"], tvb(tvb:len() - 48, 32))
	end
end

function bodies.JOIN(tvb, tree)
	row_add(tree, tvb, add_run(tree, tvb, 48, { { "manage.run", 8 } }))
	key_add(tree, tvb)
end

function bodies.LEASE(tvb, tree, info)
	add_run(tree, tvb, 48, {
		{ "manage.epoch", 8 }, { "manage.sequence", 8 }, { "manage.lease_ns", 8 },
		{ "manage.node", 2 },
	})
	info[#info + 1] = string.format("node %d", tvb(72, 2):uint())
end

function bodies.RENEW(tvb, tree)
	add_run(tree, tvb, 48, {
		{ "manage.run", 8 }, { "manage.incarnation", 8 }, { "manage.uuid", 16 },
		{ "manage.epoch", 8 }, { "manage.sequence", 8 }, { "manage.cursor", 2 },
	})
	key_add(tree, tvb)
end
bodies.LEAVE = bodies.RENEW
bodies.TABLE_ACK = bodies.RENEW

function bodies.NODE_TABLE(tvb, tree, info)
	local rows = tvb(76, 2):uint()
	local at = add_run(tree, tvb, 48, {
		{ "manage.epoch", 8 }, { "manage.from", 8 }, { "manage.to", 8 },
		{ "manage.first", 2 }, { "manage.next", 2 }, { "manage.rows", 2 },
	})
	for _ = 1, rows do
		at = row_add(tree, tvb, at)
	end
	info[#info + 1] = string.format("%d rows", rows)
end
bodies.NODE_DELTA = bodies.NODE_TABLE

function bodies.ASSIGN(tvb, tree)
	add_run(tree, tvb, 48, {
		{ "manage.epoch", 8 }, { "manage.version", 8 }, { "manage.action", 1 },
	})
	tree:add(fields["manage.host"], tvb(65, 32), tvb(65, 32):stringz())
	tree:add(fields["manage.xpu"], tvb(97, 32), tvb(97, 32):stringz())
end

function bodies.REFUSE(tvb, tree, info)
	local at = add_run(tree, tvb, 48, {
		{ "manage.status", 4 }, { "manage.retry_ns", 8 }, { "manage.epoch", 8 },
		{ "manage.version", 8 },
	})
	text_add(tree, tvb, at, "manage.text")
	info[#info + 1] = string.format("status %d", tvb(48, 4):int())
	if tvb(48, 4):int() < 0 then
		tree:add_proto_expert_info(experts.refused)
	end
end
bodies.ANSWER = bodies.REFUSE

function bodies.CHANNEL(tvb, tree, info)
	add_run(tree, tvb, 32, {
		{ "channel.id", 8 }, { "channel.number", 2 }, { "channel.step", 1 },
	})
	tree:add(fields["channel.message"], tvb(43))
	info[#info + 1] = STEPS[tvb(42, 1):uint()]
end

function bodies.STATUS(tvb, tree)
	key_add(tree, tvb)
	tree:add(fields["manage.first"], tvb(48, 2))
end

bodies.GRANTS = bodies.STATUS

function bodies.GRANTS_PAGE(tvb, tree, info)
	local at = add_run(tree, tvb, 48, {
		{ "manage.epoch", 8 }, { "manage.version", 8 }, { "grants.rule", 1 },
		{ "manage.first", 2 }, { "manage.next", 2 }, { "grants.rows", 1 },
	})
	local rows = tvb(69, 1):uint()
	for _ = 1, rows do
		at = text_add(tree, tvb, at, "manage.host")
		at = text_add(tree, tvb, at, "manage.xpu")
	end
	info[#info + 1] = string.format("%d rows", rows)
end

function bodies.STATS(tvb, tree, info)
	add_run(tree, tvb, 48, { { "stats.part", 1 }, { "stats.first", 2 } })
	info[#info + 1] = "part " .. (STATS_PARTS[tvb(48, 1):uint()] or "?")
end

function bodies.PROBE(tvb, tree, info)
	add_run(tree, tvb, 32, { { "probe.number", 8 } })
	info[#info + 1] = string.format("%d bytes", tvb:len())
end

function bodies.PROBE_REPLY(tvb, tree)
	add_run(tree, tvb, 32, { { "probe.number", 8 }, { "probe.pause_s", 1 } })
end

function bodies.STATS_PAGE(tvb, tree, info)
	local part, rows = tvb(50, 1):uint(), tvb(56, 1):uint()
	local at = add_run(tree, tvb, 48, {
		{ "stats.version", 2 }, { "stats.part", 1 }, { "stats.published", 1 },
		{ "stats.first", 2 }, { "stats.next", 2 }, { "stats.rows", 1 },
	})
	if part == 1 and rows == 1 then
		at = add_run(tree, tvb, at, {
			{ "stats.xpu", 1 }, { "stats.pid", 4 }, { "stats.started_ns", 8 },
			{ "stats.published_ns", 8 }, { "stats.age_ns", 8 }, { "stats.sessions", 4 },
		})
		at = text_add(tree, tvb, at, "stats.name")
		at = text_add(tree, tvb, at, "stats.program")
		at = text_add(tree, tvb, at, "stats.address")
	elseif part == 4 then
		at = add_run(tree, tvb, at, {
			{ "stats.role", 1 }, { "stats.pid", 4 }, { "stats.up_ns", 8 },
		})
		at = text_add(tree, tvb, at, "stats.name")
		at = text_add(tree, tvb, at, "stats.program")
	end
	if rows > 0 then
		tree:add(fields["stats.values"], tvb(at, tvb:len() - 16 - at))
	end
	info[#info + 1] = string.format("part %s, %d rows", STATS_PARTS[part] or "?", rows)
end

-- ---- the frame ----

local function common_add(tree, tvb, header_bytes)
	add_run(tree, tvb, 0, { { "version", 1 } })
	tree:add(fields.header_words, tvb(0, 1))
	tree:add(fields.type, tvb(1, 1))
	local flags = tree:add(fields.flags, tvb(2, 2))
	for _, flag in ipairs(FLAGS) do
		flags:add(fields["flags." .. flag[1]], tvb(2, 2))
	end
	add_run(tree, tvb, 4, {
		{ "dst_session", 4 }, { "src_node", 2 }, { "dst_node", 2 }, { "psn", 4 },
		{ "tx_ts", 4 }, { "cum_ack", 4 }, { "len", 2 }, { "ce_count", 2 },
	})
	if is_sealed(tvb) then
		flags:add(fields["seal.phase_seen"], tvb(2, 2))
		flags:add(fields["seal.phase"], tvb(2, 2))
		tree:add(fields["seal.counter"], tvb(28, 4))
		return
	end
	tree:add(fields.crc, tvb(28, 4))
	local good = crc_good(tvb, header_bytes)
	local cut = has_flag(tvb, 11) and tvb:len() < tvb:reported_len()
	local status = cut and "unverified: captured in part" or good and "good" or "bad"
	tree:add(fields["crc.status"], tvb(28, 4), status):set_generated()
	if not good then
		tree:add_proto_expert_info(experts.crc)
	end
end

-- Without the keys, only the common header has a meaning.
local function sealed_add(tree, tvb, info)
	local rest = tvb:len() - COMMON_BYTES - TAG_BYTES
	if tvb:len() < tvb:reported_len() then
		tree:add(fields["seal.sealed"], tvb(COMMON_BYTES))
	else
		if rest > 0 then
			tree:add(fields["seal.sealed"], tvb(COMMON_BYTES, rest))
		end
		tree:add(fields["seal.tag"], tvb(tvb:len() - TAG_BYTES, TAG_BYTES))
	end
	info[#info + 1] = string.format("sealed, counter %d", tvb(28, 4):uint())
end

local function extension_add(tree, tvb, info)
	add_run(tree, tvb, 32, {
		{ "dst_qp", 2 }, { "dst_function", 1 }, { "vc_tc", 1 }, { "qp_magic", 4 },
		{ "msg_id", 4 }, { "sub", 4 }, { "addr", 8 }, { "key", 4 }, { "msg_len", 4 },
	})
	if has_flag(tvb, 7) then
		tree:add(fields.imm, tvb(64, 8))
	end
	if has_flag(tvb, 13) then
		tree:add(fields.trailer, tvb(has_flag(tvb, 7) and 72 or 64, 8))
	end
	info[#info + 1] = string.format("packet %d, message %d.%d", tvb(12, 4):uint(),
		tvb(40, 4):uint(), tvb(44, 4):uint())
end

local function body_add(tree, tvb, header_bytes, name, info)
	local type = tvb(1, 1):uint()
	if type >= 0x40 and name ~= "CHANNEL" then
		if not name:match("^PROBE") then
			add_run(tree, tvb, 32, { { "manage.request", 8 }, { "manage.nonce", 8 } })
		end
		tree:add(fields["manage.mac"], tvb(tvb:len() - 16, 16))
	end
	if bodies[name] then
		bodies[name](tvb, tree, info, header_bytes)
	elseif tvb:len() > header_bytes then
		tree:add(fields.payload, tvb(header_bytes))
	end
end

function rltp.dissector(tvb, pinfo, root)
	local header_bytes = header_length(tvb)
	local tree = root:add(rltp, tvb())
	pinfo.cols.protocol = "RLTP"
	if not header_bytes then
		pinfo.cols.info = "Malformed"
		tree:add_proto_expert_info(experts.malformed)
		return tvb:len()
	end
	local name, info = TYPES[tvb(1, 1):uint()], {}
	tree:append_text(", " .. name)
	common_add(tree, tvb, header_bytes)
	if is_sealed(tvb) then
		sealed_add(tree, tvb, info)
	elseif header_bytes >= DATA_BYTES then
		extension_add(tree, tvb, info)
	end
	if has_flag(tvb, 2) then
		tree:add_proto_expert_info(experts.rtx)
		info[#info + 1] = "(again)"
	end
	if is_sealed(tvb) then
		pinfo.cols.info = name .. " " .. table.concat(info, " ")
		return tvb:len()
	end
	-- Decoding fails if the body is too short for its type.
	if not pcall(body_add, tree, tvb, header_bytes, name, info)
		and tvb:len() == tvb:reported_len() then
		tree:add_proto_expert_info(experts.malformed)
	end
	pinfo.cols.info = name .. " " .. table.concat(info, " ")
	return tvb:len()
end

DissectorTable.get("udp.port"):add(PORT, rltp)
rltp:register_heuristic("udp", function(tvb, pinfo, root)
	local header_bytes = header_length(tvb)
	-- A sealed frame has no checksum; the handshake before it assigns the conversation.
	if not header_bytes or is_sealed(tvb) or not crc_good(tvb, header_bytes) then
		return false
	end
	rltp.dissector(tvb, pinfo, root)
	-- Assigns later packets of this conversation to RLTP, also with a wrong checksum.
	pinfo.conversation = rltp
	return true
end)
