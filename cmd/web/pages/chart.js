// A line chart as SVG: one or two series over time. The caption has the newest values as text.
import { element } from "./table.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 300, HEIGHT = 100;

function svg(name, attributes) {
	const e = document.createElementNS(SVG, name);
	for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
	return e;
}

export class Chart {
	// series: names; format: function that returns the text of a value; limit: points to keep.
	constructor(title, series, format, limit = 300) {
		this.title = title;
		this.series = series;
		this.format = format;
		this.limit = limit;
		this.points = [];
		this.lines = series.map(() => svg("polyline", { points: "" }));
		this.image = svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none",
			role: "img", "aria-label": title + ": no values yet" });
		this.image.append(svg("line", { x1: 0, y1: HEIGHT, x2: WIDTH, y2: HEIGHT }), ...this.lines);
		this.caption = element("figcaption");
		this.root = element("figure", {}, this.caption, this.image);
	}

	// Adds a point. values: one number for each series.
	add(timeMs, values) {
		const last = this.points[this.points.length - 1];
		if (last && last[0] >= timeMs) return;
		this.points.push([timeMs, ...values]);
		if (this.points.length > this.limit) this.points.shift();
	}

	draw() {
		if (!this.points.length) return;
		const first = this.points[0][0], last = this.points[this.points.length - 1];
		const span = Math.max(last[0] - first, 1);
		const top = Math.max(1e-9, ...this.points.flatMap((p) => p.slice(1)));
		this.lines.forEach((line, i) => {
			line.setAttribute("points", this.points.map((p) =>
				`${((p[0] - first) / span * WIDTH).toFixed(1)},${(HEIGHT - p[i + 1] / top * HEIGHT).toFixed(1)}`).join(" "));
		});
		const now = this.series.map((name, i) => `${name} ${this.format(last[i + 1])}`).join(", ");
		const text = `${this.title}: ${now}; highest ${this.format(top < 1e-6 ? 0 : top)} in ${Math.round(span / 1000)} s`;
		this.caption.textContent = text;
		this.image.setAttribute("aria-label", text);
	}
}
