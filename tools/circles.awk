# SPDX-License-Identifier: BSD-3-Clause
# Builds the graph for tools/circles. Reads file names on standard input; needs code.awk. A function
# is defined where its head begins in column 1 and a brace follows in column 1 (the layout of
# clang-format). A variable is defined where a definition with a value begins in column 1. If a name
# is static in a file, this file does not use a function of that name in another file. A header
# counts only by the bodies of its inline functions, since a prototype is no call.

function unit_of(path) {
	sub(/\.[ch]$/, "", path)
	if (folders)
		sub(/\/[^\/]*$/, "", path)
	return path
}

# Records the file that defines a name; "" for several.
function own(path, name) {
	if (name in owner && owner[name] != unit_of(path))
		owner[name] = ""
	else
		owner[name] = unit_of(path)
}

# Records a function by its head, the text before the brace.
function define(path, head,    name) {
	if (!match(head, /[A-Za-z_0-9]+\(/))
		return
	name = substr(head, RSTART, RLENGTH - 1)
	if (head ~ /(^|[ \t])static[ \t]/) {
		private[path, name] = 1
		if (path !~ /\.h$/)
			return
	}
	own(path, name)
}

# Records a variable defined in this line, in column 1 and not static.
function define_data(path, code,    name) {
	if (code !~ /^(const )?(struct|union|enum) [a-z_0-9]+ [a-z_0-9]+(\[[^]]*\])* = /)
		return
	name = code
	sub(/(\[[^]]*\])* = .*/, "", name)
	sub(/.* /, "", name)
	own(path, name)
}

function words_of(path, code,    list, count, i) {
	count = split(code, list, /[^A-Za-z_0-9]+/)
	for (i = 1; i <= count; i++)
		if (list[i] ~ /^[a-z]/ && !((path, list[i]) in used)) {
			used[path, list[i]] = 1
			word_file[++words] = path
			word_text[words] = list[i]
		}
}

function read_file(path,    line, code, head, inside) {
	in_comment = 0
	head = ""
	inside = 0
	while ((getline line < path) > 0) {
		code = code_of(line)
		if (code ~ /^[ \t]*#/)
			continue
		if (inside) {
			words_of(path, code)
			inside = code !~ /^}/
			head = ""
		} else if (code ~ /^{/) {
			define(path, head)
			inside = 1
			head = ""
		} else {
			if (path ~ /\.c$/) {
				define_data(path, code)
				words_of(path, code)
			}
			head = code ~ /[;}][ \t]*$/ || code ~ /^[ \t]*$/ ? "" : head " " code
		}
	}
	close(path)
}

{
	files[++file_count] = $0
	read_file($0)
}

# Strongly connected components by Tarjan, who defines `low` and `index_of`.
function visit(u,    i, v) {
	index_of[u] = low[u] = ++clock
	stack[++depth] = u
	on_stack[u] = 1
	for (i = 1; i <= callee_count[u]; i++) {
		v = callee[u, i]
		if (!(v in index_of)) {
			visit(v)
			if (low[v] < low[u])
				low[u] = low[v]
		} else if (on_stack[v] && index_of[v] < low[u]) {
			low[u] = index_of[v]
		}
	}
	if (low[u] == index_of[u])
		component(u)
}

function component(root,    v, count, text, name) {
	count = 0
	text = ""
	do {
		v = stack[depth--]
		on_stack[v] = 0
		name = v
		sub(/.*\//, "", name)
		text = text (count++ ? ", " : "") name
	} while (v != root)
	if (count < 2)
		return
	circles++
	circled += count
	if (mode == "print")
		print root ": call each other in a circle: " text "; move what they share down"
}

END {
	for (w = 1; w <= words; w++) {
		name = word_text[w]
		path = word_file[w]
		to = owner[name]
		from = unit_of(path)
		if (to == "" || to == from || (path, name) in private || (from, to) in edge)
			continue
		# src calls only src: a name that only others define is a library's, such as
		# clGetPlatformInfo.
		if (from ~ /^src\// && to !~ /^src\//)
			continue
		edge[from, to] = 1
		callee[from, ++callee_count[from]] = to
		if (!(from in known)) {
			known[from] = 1
			order[++units] = from
		}
	}
	for (i = 1; i <= units; i++)
		if (!(order[i] in index_of))
			visit(order[i])
	if (mode == "count")
		print circles + 0, circled + 0
}
