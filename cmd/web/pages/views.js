// The pages. Each view has a title, `parts` (elements), and update(summary), called after each reading.
import { Chart } from "./chart.js";
import { Table, Tiles, element } from "./table.js";
import * as format from "./format.js";

const ROWS_MAX = 300; // rows that a table shows; with a filter the user finds other rows

async function get(path) {
	const response = await fetch("/api/v1/" + path);
	const body = await response.json();
	if (!response.ok) throw new Error(body.error ?? response.statusText);
	return body;
}

function nodeLink(row) {
	return "#/nodes/" + row.name; // names need no escapes
}

const HEALTH = { alive: "\u2713 alive", silent: "\u26a0 no answer", dead: "\u2717 dead", unobserved: "? no counters" };

class Overview {
	title = "Overview";

	constructor() {
		this.tiles = new Tiles(["Manager", "Nodes", "Alive", "No answer", "Dead", "xPUs", "Retransmitted", "Dropped"]);
		this.traffic = new Chart("Bytes of all nodes", ["in", "out"], format.perSecond);
		this.repeats = new Chart("Retransmitted", ["share"], format.percent);
		this.events = new EventTable();
		this.parts = [this.tiles.root, element("h2", {}, "Traffic"),
			element("div", { class: "charts" }, this.traffic.root, this.repeats.root),
			element("h2", {}, "Newest events"), this.events.root];
	}

	async open() {
		const o = await get("overview");
		for (const [time, incoming, outgoing, repeats] of o.history) {
			this.traffic.add(time, [incoming, outgoing]);
			this.repeats.add(time, [repeats]);
		}
		this.update(o);
	}

	async update(s) {
		if (!s.nodes) return;
		const manager = s.manager.answers;
		this.tiles.set("Manager", manager ? "\u2713 answers" : "\u2717 no answer", manager ? "good" : "bad");
		this.tiles.set("Nodes", s.nodes.total);
		this.tiles.set("Alive", s.nodes.alive, "good");
		this.tiles.set("No answer", s.nodes.silent, s.nodes.silent ? "bad" : "");
		this.tiles.set("Dead", s.nodes.dead, s.nodes.dead ? "bad" : "");
		this.tiles.set("xPUs", s.nodes.xpus);
		this.tiles.set("Retransmitted", format.percent(s.rates.retransmitted_percent));
		this.tiles.set("Dropped", format.count(s.rates.drops_per_s) + "/s");
		this.traffic.add(s.time_ms, [s.rates.received_bytes_per_s, s.rates.sent_bytes_per_s]);
		this.repeats.add(s.time_ms, [s.rates.retransmitted_percent]);
		this.traffic.draw();
		this.repeats.draw();
		await this.events.update(s.last_event, 10);
	}
}

const NODE_COLUMNS = [
	{ title: "Name", value: (n) => n.name, link: nodeLink },
	{ title: "State", value: (n) => HEALTH[n.health], style: (n) => n.health },
	{ title: "In", value: (n) => format.perSecond(n.received_bytes_per_s), kind: "number" },
	{ title: "Out", value: (n) => format.perSecond(n.sent_bytes_per_s), kind: "number" },
	{ title: "Retransmitted", value: (n) => format.percent(n.retransmitted_percent), kind: "number wide" },
	{ title: "Kind", value: (n) => n.kind, kind: "wide" },
	{ title: "Engine", value: (n) => n.engine, kind: "wide" },
	{ title: "Memory", value: (n) => n.memory_bytes ? format.bytes(n.memory_bytes) : "-", kind: "number wide" },
	{ title: "Via", value: (n) => n.memory_kind, kind: "wide" },
	{ title: "Sessions", value: (n) => n.sessions ?? "-", kind: "number wide" },
	{ title: "Up", value: (n) => format.duration(n.up_s), kind: "number wide" },
	{ title: "Address", value: (n) => n.address, kind: "wide" },
];

const TROUBLE = { dead: 0, silent: 1, unobserved: 2, alive: 3 };

class Nodes {
	title = "Nodes";

	constructor() {
		this.filter = element("input", { type: "search", id: "filter", autocomplete: "off" });
		this.filter.addEventListener("input", () => this.show());
		this.table = new Table("Nodes", NODE_COLUMNS, (n) => n.id);
		this.nodes = [];
		this.parts = [element("label", { for: "filter" }, "Filter by name, state or engine ", this.filter), this.table.root];
	}

	async update() {
		this.nodes = (await get("nodes")).nodes;
		this.nodes.sort((a, b) => TROUBLE[a.health] - TROUBLE[b.health] || a.id - b.id);
		this.show();
	}

	show() {
		const text = this.filter.value.toLowerCase();
		const rows = this.nodes.filter((n) => !text || [n.name, n.health, n.engine].some((v) => v.toLowerCase().includes(text)));
		this.table.update(rows.slice(0, ROWS_MAX), rows.length);
	}
}

const SESSION_COLUMNS = [
	{ title: "Peer", value: (s) => s.peer },
	{ title: "Sent", value: (s) => format.bytes(s.sent_bytes), kind: "number" },
	{ title: "Received", value: (s) => format.bytes(s.received_bytes), kind: "number" },
	{ title: "Round trip", value: (s) => format.microseconds(s.srtt_ns), kind: "number" },
	{ title: "In flight", value: (s) => `${s.inflight}/${s.window}`, kind: "number wide" },
	{ title: "Gap", value: (s) => s.retransmitted_gap, kind: "number" },
	{ title: "Probe", value: (s) => s.retransmitted_probe, kind: "number" },
	{ title: "Timeout", value: (s) => s.retransmitted_timeout, kind: "number" },
	{ title: "Busy", value: (s) => s.retransmitted_busy, kind: "number" },
	{ title: "Marked", value: (s) => s.marked, kind: "number wide" },
	{ title: "Paced", value: (s) => s.pace_bytes_per_s ? format.perSecond(s.pace_bytes_per_s) : "-", kind: "number wide" },
];

const QUEUE_COLUMNS = [
	{ title: "Queue pair", value: (q) => `${q.function}.${q.qp}` },
	{ title: "Sent", value: (q) => format.bytes(q.sent_bytes), kind: "number" },
	{ title: "Received", value: (q) => format.bytes(q.received_bytes), kind: "number" },
	{ title: "Failed", value: (q) => q.failed, kind: "number" },
	{ title: "Rejected", value: (q) => q.refused, kind: "number" },
	{ title: "Waits for credit", value: (q) => q.waits_for_credit, kind: "number wide" },
];

const COUNTER_COLUMNS = [
	{ title: "Counter", value: (c) => c[0].replaceAll("_", " ") },
	{ title: "Since the start", value: (c) => c[1], kind: "number" },
];

class Node {
	constructor(name, page) {
		this.name = name;
		this.page = page;
		this.title = "Node " + name;
		this.tiles = new Tiles(["State", "In", "Out", "Retransmitted", "Dropped", "Engine", "Device", "Memory", "Program",
			"Process", "Up", "Address"]);
		this.traffic = new Chart("Bytes", ["in", "out"], format.perSecond);
		this.repeats = new Chart("Retransmitted", ["share"], format.percent);
		this.sessions = new Table("Sessions, with retransmitted packets by cause", SESSION_COLUMNS, (s) => s.peer + s.node);
		this.queues = new Table("Queue pairs", QUEUE_COLUMNS, (q) => `${q.function}.${q.qp}`);
		this.counters = new Table("Counters that are not zero", COUNTER_COLUMNS, (c) => c[0]);
		this.parts = [this.tiles.root, element("h2", {}, "Traffic"),
			element("div", { class: "charts" }, this.traffic.root, this.repeats.root),
			element("h2", {}, "Sessions"), this.sessions.root, element("h2", {}, "Queue pairs"), this.queues.root,
			element("h2", {}, "Counters"), this.counters.root];
	}

	async update(s) {
		const { node: n, detail: d } = await get("nodes/" + this.name);
		this.tiles.set("State", HEALTH[n.health] + (n.health === "unobserved" ? ": " + n.missing : ""), n.health);
		this.tiles.set("In", format.perSecond(n.received_bytes_per_s));
		this.tiles.set("Out", format.perSecond(n.sent_bytes_per_s));
		this.tiles.set("Retransmitted", format.percent(n.retransmitted_percent));
		this.tiles.set("Dropped", n.drops_per_s === undefined ? "-" : format.count(n.drops_per_s) + "/s");
		this.tiles.set("Engine", n.engine || "-");
		this.tiles.set("Device", n.device || "-");
		this.tiles.set("Memory", n.memory_bytes ? `${format.bytes(n.memory_bytes)} ${n.memory_kind}` : "-");
		this.tiles.set("Program", n.program ?? "-");
		this.tiles.set("Process", n.pid ?? "-");
		this.tiles.set("Up", format.duration(n.up_s));
		this.tiles.set("Address", n.address);
		this.traffic.add(s.time_ms, [n.received_bytes_per_s ?? 0, n.sent_bytes_per_s ?? 0]);
		this.repeats.add(s.time_ms, [n.retransmitted_percent ?? 0]);
		this.traffic.draw();
		this.repeats.draw();
		this.sessions.update(d ? d.sessions.slice(0, ROWS_MAX) : [], d?.sessions.length);
		this.queues.update(d?.queue_pairs ?? []);
		this.counters.update(d ? Object.entries(d.counters).filter((c) => c[1]) : []);
	}
}

const BRIDGE_STYLE = { failing: "bad", silent: "bad", device: "slow", buffers: "slow", reader: "slow" };

const BRIDGE_COLUMNS = [
	{ title: "xPU", value: (b) => b.name, link: nodeLink },
	{ title: "Bottleneck", value: (b) => b.verdict, style: (b) => BRIDGE_STYLE[b.verdict] ?? "" },
	{ title: "Why", value: (b) => b.verdict_text, kind: "text" },
	{ title: "To device", value: (b) => format.perSecond(b.in_bytes_per_s), kind: "number" },
	{ title: "From device", value: (b) => format.perSecond(b.out_bytes_per_s), kind: "number" },
	{ title: "Busy in", value: (b) => format.percent(b.in_busy_percent), kind: "number" },
	{ title: "Busy out", value: (b) => format.percent(b.out_busy_percent), kind: "number" },
	{ title: "No buffer", value: (b) => b.full ?? "-", kind: "number" },
	{ title: "Buffers", value: (b) => b.known ? `${b.buffers} x ${format.bytes(b.buffer_bytes)}` : "-", kind: "number wide" },
	{ title: "Transfers", value: (b) => b.transfers ?? "-", kind: "number wide" },
	{ title: "Failed", value: (b) => b.failed ?? "-", kind: "number wide" },
	{ title: "Stalls", value: (b) => b.stalls ?? "-", kind: "number wide" },
];

class Bridges {
	title = "Bridges";

	constructor() {
		this.table = new Table("xPUs whose memory only DMA reaches", BRIDGE_COLUMNS, (b) => b.name);
		this.parts = [this.table.root];
	}

	async update() {
		this.table.update((await get("bridges")).bridges);
	}
}

const FUNCTION_COLUMNS = [
	{ title: "NIC", value: (f) => f.nic },
	{ title: "Function", value: (f) => f.qps === 4 ? f.function : `${f.function}.${f.qp}` },
	{ title: "State", value: (f) => f.state },
	{ title: "User", value: (f) => f.label || "-" },
	{ title: "Process", value: (f) => f.pid || "-", kind: "number" },
	{ title: "Weight", value: (f) => f.weight, kind: "number" },
	{ title: "Priority", value: (f) => f.priority },
	{ title: "Limit", value: (f) => f.limit_bytes_per_s ? format.perSecond(f.limit_bytes_per_s) : "none", kind: "number" },
	{ title: "Sent", value: (f) => format.bytes(f.counters.sent_bytes), kind: "number" },
	{ title: "Received", value: (f) => format.bytes(f.counters.received_bytes), kind: "number" },
];

class Functions {
	title = "Functions";

	constructor() {
		this.table = new Table("NIC functions on the machine of dxp-web", FUNCTION_COLUMNS, (f) => `${f.nic} ${f.function}.${f.qp}`);
		this.parts = [this.table.root];
	}

	async update() {
		const { nics } = await get("functions");
		this.table.update(nics.flatMap((nic) => nic.functions.map((f) => ({ nic: nic.name, ...f }))));
	}
}

const SWITCH_COLUMNS = [
	{ title: "Switch", value: (s) => "\u2191".repeat(s.above) + s.address },
	{ title: "Name", value: (s) => s.name ?? "-" },
	{ title: "State", value: (s) => s.answers ? "\u2713 answers" : "\u2717 no answer", style: (s) => s.answers ? "good" : "bad" },
	{ title: "Groups", value: (s) => s.answers ? `${s.groups}/${s.groups_max}` : "-", kind: "number" },
	{ title: "Contributions", value: (s) => format.count(s.contributions), kind: "number" },
	{ title: "Results", value: (s) => format.count(s.results), kind: "number" },
	{ title: "Rejected", value: (s) => format.count(s.refused), kind: "number" },
	{ title: "Above it", value: (s) => s.parents?.join(" ") || "-", kind: "wide" },
];

const GROUP_COLUMNS = [
	{ title: "Group", value: (g) => g.id },
	{ title: "Switch", value: (g) => g.address },
	{ title: "Members", value: (g) => g.members, kind: "number" },
	{ title: "Mode", value: (g) => g.mode },
	{ title: "Results", value: (g) => format.count(g.results), kind: "number" },
	{ title: "Idle", value: (g) => format.duration(g.idle_ms / 1000), kind: "number" },
];

const REFUSAL_COLUMNS = [
	{ title: "Switch", value: (r) => r.address },
	{ title: "Why", value: (r) => r.why, kind: "text" },
	{ title: "Times", value: (r) => r.times, kind: "number" },
	{ title: "Last", value: (r) => format.duration(r.last_ms_ago / 1000) + " ago", kind: "number" },
	{ title: "By", value: (r) => r.last_by ?? "-" },
];

// The columns of a manager or a switch; `values`: names of counters.
function serviceColumns(title, values) {
	return [
		{ title, value: (s) => s.address },
		{ title: "Name", value: (s) => s.name ?? "-" },
		{ title: "Counters", value: (s) => s.missing ?? "\u2713", style: (s) => s.missing ? "bad" : "good" },
		{ title: "Up", value: (s) => s.missing ? "-" : format.duration(s.up_ns / 1e9), kind: "number" },
		...values.map((v) => ({ title: v.replaceAll("_", " "), value: (s) => format.count(s.counters?.[v]), kind: "number" })),
	];
}

const SWITCH_VALUES = ["received", "sent", "contributions", "results", "repeats", "kernel_results", "refused", "malformed", "limited"];
const MANAGER_VALUES = ["nodes_alive", "nodes_dead", "grants", "joined", "left", "died", "renewed", "busy", "unauthentic"];

function rowsOf(trees, list, field) {
	return trees.flatMap((t) => (t[list] ?? []).flatMap((s) => (s[field] ?? []).map((r) => ({ address: s.address, ...r }))));
}

class Switches {
	title = "Switches";

	constructor() {
		this.switches = new Table("Switches that compute", SWITCH_COLUMNS, (s) => s.address);
		this.groups = new Table("Groups", GROUP_COLUMNS, (g) => g.address + g.id);
		this.refusals = new Table("Rejected requests", REFUSAL_COLUMNS, (r) => r.address + r.cause);
		this.counters = new Table("Counters", serviceColumns("Switch", SWITCH_VALUES), (s) => s.address);
		this.manager = new Table("Manager", serviceColumns("Manager", MANAGER_VALUES), (s) => s.address);
		this.parts = [element("p", {}, "dxp-web shows the switches that its option --switch names, and those above them."),
			this.switches.root, element("h2", {}, "Groups"), this.groups.root,
			element("h2", {}, "Rejected requests"), this.refusals.root,
			element("h2", {}, "Counters of the switches that have the fabric key"), this.counters.root,
			element("h2", {}, "Counters of the manager"), this.manager.root];
	}

	async update() {
		const { trees } = await get("switches");
		const all = new Map(trees.flatMap((t) => t.switches ?? []).map((s) => [s.address, s]));
		this.switches.update([...all.values()]);
		this.groups.update(rowsOf(trees, "switches", "group_rows"));
		this.refusals.update(rowsOf(trees, "refusals", "refusal_rows"));
		const { services } = await get("services");
		this.counters.update(services.filter((s) => s.role === "switch"));
		this.manager.update(services.filter((s) => s.role === "manager"));
	}
}

const GRANT_COLUMNS = [
	{ title: "Host", value: (g) => g.host },
	{ title: "xPU", value: (g) => g.xpu },
];

const VERDICT_STYLE = { blocked: "bad", lossy: "slow", slow: "slow", short: "slow" };
const MATRIX_MAX = 16; // nodes of the matrix

function verdictText(p) {
	if (p.verdict) return (p.verdict === "blocked" ? "\u2717 " : "\u26a0 ") + p.verdict;
	return p.state === "open" ? "\u2713 open" : "? not measured";
}

const TROUBLED_COLUMNS = [
	{ title: "From", value: (p) => p.from, link: (p) => nodeLink({ name: p.from }) },
	{ title: "To", value: (p) => p.to },
	{ title: "State", value: verdictText, style: (p) => VERDICT_STYLE[p.verdict] ?? "" },
	{ title: "Why", value: (p) => p.verdict_text, kind: "text" },
];

const PATH_COLUMNS = [
	{ title: "From", value: (p) => p.from },
	{ title: "To", value: (p) => p.to },
	{ title: "State", value: verdictText, style: (p) => VERDICT_STYLE[p.verdict] ?? "" },
	{ title: "Round trip", value: (p) => p.rtt_ns ? format.microseconds(p.rtt_ns) : "-", kind: "number" },
	{ title: "Shortest", value: (p) => p.min_rtt_ns ? format.microseconds(p.min_rtt_ns) : "-", kind: "number wide" },
	{ title: "Lost", value: (p) => `${p.sent - p.answered}/${p.sent}`, kind: "number" },
	{ title: "MTU", value: (p) => p.mtu_bytes || "-", kind: "number wide" },
];

const MISSING_COLUMNS = [
	{ title: "Node", value: (m) => m.from },
	{ title: "Why", value: (m) => m.why, kind: "text" },
];

// The round trips between all nodes: a row for each sender, a column for each peer.
class Matrix {
	constructor() {
		this.names = "";
		this.root = element("div");
	}

	#begin(names) {
		const columns = [{ title: "From \\ to", value: (row) => row.from }, ...names.map((to) => ({
			title: to,
			value: (row) => row.to.get(to) ? this.#cell(row.to.get(to)) : "-",
			style: (row) => VERDICT_STYLE[row.to.get(to)?.verdict] ?? "",
			kind: "number",
		}))];
		this.table = new Table("Round trips between nodes", columns, (row) => row.from);
		this.root.replaceChildren(this.table.root);
	}

	#cell(p) {
		if (p.verdict === "blocked") return "\u2717 blocked";
		const rtt = p.rtt_ns ? format.microseconds(p.rtt_ns) : "?";
		return p.verdict ? `\u26a0 ${rtt} ${p.verdict}` : rtt;
	}

	update(paths) {
		const names = [...new Set(paths.flatMap((p) => [p.from, p.to]))].sort();
		this.root.hidden = names.length === 0 || names.length > MATRIX_MAX;
		if (this.root.hidden) return;
		if (this.names !== names.join(" ")) this.#begin(names);
		this.names = names.join(" ");
		this.table.update(names.map((from) => ({ from, to: new Map(paths.filter((p) => p.from === from).map((p) => [p.to, p])) })));
	}
}

class Paths {
	title = "Paths";

	constructor() {
		this.summary = element("p");
		this.troubles = new Table("Paths that are blocked, lossy, slow or short", TROUBLED_COLUMNS, (p) => `${p.from} ${p.to}`);
		this.matrix = new Matrix();
		this.all = new Table("Paths", PATH_COLUMNS, (p) => `${p.from} ${p.to}`);
		this.missing = new Table("Nodes without measurements", MISSING_COLUMNS, (m) => m.from);
		this.parts = [this.summary, this.troubles.root, element("h2", {}, "Matrix"), this.matrix.root,
			element("h2", {}, "All paths"), this.all.root, this.missing.root];
	}

	async update() {
		const { paths, missing } = await get("paths");
		const bad = paths.filter((p) => p.verdict);
		const text = bad.length ? `${bad.length} of ${paths.length} paths have a problem.`
			: `None of ${paths.length} measured paths is blocked, lossy, slow or short.`;
		if (this.summary.textContent !== text) this.summary.textContent = text;
		this.troubles.root.hidden = bad.length === 0;
		this.missing.root.hidden = missing.length === 0;
		this.troubles.update(bad.slice(0, ROWS_MAX), bad.length);
		this.matrix.update(paths);
		this.all.update(paths.slice(0, ROWS_MAX), paths.length);
		this.missing.update(missing.slice(0, ROWS_MAX), missing.length);
	}
}

class Grants {
	title = "Grants";

	constructor() {
		this.policy = element("p");
		this.table = new Table("Grants", GRANT_COLUMNS, (g) => `${g.host} ${g.xpu}`);
		this.parts = [this.policy, this.table.root];
	}

	async update() {
		const { policy, grants } = await get("grants");
		this.policy.textContent = policy === "any"
			? "The manager permits any host to use any xPU. Start it with --grants explicit to decide by grants."
			: "A host may use the xPUs of its grants. Change them with `dxp grant HOST XPU` and `dxp revoke HOST XPU`.";
		this.table.update(grants.slice(0, ROWS_MAX), grants.length);
	}
}

const EVENT_COLUMNS = [
	{ title: "Time", value: (e) => format.clock(e.time_ms) },
	{ title: "Event", value: (e) => e.kind, style: (e) => e.severity === "critical" ? "bad" : e.severity === "warning" ? "slow" : "" },
	{ title: "Subject", value: (e) => e.subject },
	{ title: "Text", value: (e) => e.text, kind: "text" },
];

// Table of events. Each update reads only the events after the last one that it has.
class EventTable {
	constructor() {
		this.last = 0;
		this.events = [];
		this.table = new Table("Events, newest first", EVENT_COLUMNS, (e) => e.id);
		this.root = this.table.root;
	}

	async update(last, rows) {
		if (last < this.last) { // dxp-web was restarted
			this.last = 0;
			this.events = [];
		}
		while (this.last < last) {
			const page = await get("events?after=" + this.last);
			if (!page.events.length) break;
			this.events.unshift(...page.events.reverse());
			this.last = this.events[0].id;
		}
		this.events.length = Math.min(this.events.length, ROWS_MAX);
		this.table.update(this.events.slice(0, rows), this.events.length);
	}
}

class Events {
	title = "Events";

	constructor() {
		this.table = new EventTable();
		this.parts = [this.table.root];
	}

	async update(s) {
		await this.table.update(s.last_event, ROWS_MAX);
	}
}

class Join {
	title = "Join";

	constructor() {
		this.commands = element("pre");
		this.parts = [element("p", {}, "On a new machine, install dxpd, copy the key of the fabric there (mode 600), and start:"),
			this.commands,
			element("p", {}, "A manager at 127.0.0.1 serves only its own machine: start it with --bind ADDRESS. The guides "
				+ "install.md and manager.md have the details.")];
	}

	async update(s) {
		const text = `scp MANAGER:/var/lib/dxp/fabric.key fabric.key\ndxpd --manager ${s.manager_address} --key fabric.key\n`;
		if (this.commands.textContent !== text) this.commands.textContent = text;
	}
}

const PAGES = { "": Overview, nodes: Nodes, paths: Paths, bridges: Bridges, functions: Functions, switches: Switches, grants: Grants,
	events: Events, join: Join };

// Makes the view of a location such as "#/nodes/xpu1".
export function viewOf(hash) {
	const [page = "", name] = hash.replace(/^#\/?/, "").split("/");
	if (page === "nodes" && name) return new Node(name, page);
	const known = Object.hasOwn(PAGES, page) ? page : "";
	return Object.assign(new PAGES[known](), { page: known });
}
