// Connects the stream of updates with the current view.
import { viewOf } from "./views.js";
import { element } from "./table.js";

const $ = (id) => document.getElementById(id);
let view, summary, busy = false, alertsShown = "";

function linkShow(text) {
	if ($("link").textContent !== text) $("link").textContent = text;
}

// The list of alerts is an ARIA live region. It is rebuilt only if the alerts changed, because a
// screen reader reads it again after each change.
function alertsShow(s) {
	const text = JSON.stringify([s.alerts, s.alerts_left_out]);
	if (text === alertsShown) return;
	alertsShown = text;
	const rows = s.alerts.map((a) => element("li", { class: a.severity },
		element("strong", {}, `${a.severity === "critical" ? "\u2717" : "\u26a0"} ${a.subject}: ${a.kind}. `), a.text));
	if (s.alerts_left_out) rows.push(element("li", { class: "warning" }, `${s.alerts_left_out} further alerts`));
	$("alerts").replaceChildren(element("ul", {}, ...rows));
	$("alerts").hidden = rows.length === 0;
	const title = view ? view.title : "Direct xPU";
	document.title = (s.alerts.length ? `(${s.alerts.length}) ` : "") + title + " - Direct xPU";
}

async function viewUpdate(first) {
	if (!summary || busy || document.hidden) return;
	const target = view;
	busy = true;
	try {
		if (first && target.open) await target.open();
		else await target.update(summary);
		$("error")?.remove();
	} catch (error) {
		if (!$("error")) $("view").prepend(element("p", { id: "error", class: "warning" }));
		$("error").textContent = error.message;
	}
	busy = false;
	if (target !== view) viewUpdate(true);
}

function navigate(focus) {
	view = viewOf(location.hash);
	$("title").textContent = view.title;
	document.title = view.title + " - Direct xPU";
	$("view").replaceChildren(...view.parts);
	for (const a of document.querySelectorAll("nav a")) {
		if (a.hash === "#/" + view.page) a.setAttribute("aria-current", "page");
		else a.removeAttribute("aria-current");
	}
	if (focus) $("title").focus();
	viewUpdate(true);
}

function onUpdate(message) {
	const first = !summary;
	summary = JSON.parse(message.data);
	linkShow("live");
	alertsShow(summary);
	viewUpdate(first);
}

window.addEventListener("hashchange", () => {
	if (location.hash !== "#content") navigate(true);
});
document.addEventListener("visibilitychange", () => viewUpdate(false));
navigate(false);
const stream = new EventSource("/api/v1/stream");
stream.addEventListener("update", onUpdate);
stream.addEventListener("error", () => linkShow("no connection to dxp-web"));
