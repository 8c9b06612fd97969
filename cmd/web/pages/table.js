// Builds elements, and tables that change in place. A row that stays keeps its elements, so the
// keyboard focus and the position of a screen reader stay too.
export function element(name, attributes = {}, ...children) {
	const e = document.createElement(name);
	for (const [key, value] of Object.entries(attributes))
		if (value !== undefined) e.setAttribute(key, value);
	e.append(...children);
	return e;
}

function setText(e, text) {
	if (e.textContent !== text) e.textContent = text;
}

// A column: {title, value(row), link(row)?, style(row)?, kind?: "number" | "text" | "wide"}.
export class Table {
	constructor(caption, columns, key) {
		this.columns = columns;
		this.key = key;
		this.rows = new Map();
		this.caption = element("caption", {}, caption);
		this.body = element("tbody");
		const head = columns.map((c) => element("th", { scope: "col", class: c.kind }, c.title));
		const table = element("table", {}, this.caption,
			element("thead", {}, element("tr", {}, ...head)), this.body);
		this.root = element("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption }, table);
	}

	#cell(column, first) {
		const cell = element(first ? "th" : "td", { class: column.kind, scope: first ? "row" : undefined });
		if (column.link) cell.append(element("a"));
		return cell;
	}

	#fill(tr, row) {
		this.columns.forEach((column, i) => {
			const cell = tr.children[i];
			const target = column.link ? cell.firstChild : cell;
			setText(target, String(column.value(row)));
			if (column.link) target.setAttribute("href", column.link(row));
			if (column.style) cell.className = [column.kind ?? "", column.style(row)].join(" ");
		});
	}

	// Shows these rows. `total` is the number of all rows, which may be more.
	update(rows, total = rows.length) {
		const seen = new Set();
		rows.forEach((row, at) => {
			const key = String(this.key(row));
			let tr = this.rows.get(key);
			if (!tr) {
				tr = element("tr", {}, ...this.columns.map((c, i) => this.#cell(c, i === 0)));
				this.rows.set(key, tr);
			}
			seen.add(key);
			this.#fill(tr, row);
			if (this.body.children[at] !== tr) this.body.insertBefore(tr, this.body.children[at] ?? null);
		});
		for (const [key, tr] of this.rows) {
			if (seen.has(key)) continue;
			tr.remove();
			this.rows.delete(key);
		}
		const base = this.root.getAttribute("aria-label");
		const some = rows.length < total ? `${rows.length} of ${total}` : String(total);
		setText(this.caption, `${base}: ${some}`);
	}
}

export class Tiles {
	constructor(names) {
		this.values = new Map();
		this.root = element("dl", { class: "tiles" });
		for (const name of names) {
			const value = element("dd", {}, "-");
			this.values.set(name, value);
			this.root.append(element("div", {}, element("dt", {}, name), value));
		}
	}

	set(name, text, style = "") {
		const value = this.values.get(name);
		setText(value, String(text));
		if (value.className !== style) value.className = style;
	}
}
