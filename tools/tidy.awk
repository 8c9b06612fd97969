# SPDX-License-Identifier: BSD-3-Clause
# The rules of tools/tidy. Reads file names on standard input; prints "file:line: finding", or
# "file: note: ...". The variable `layers` is the path of src/layers. Needs code.awk. Runs under
# mawk, which counts bytes, so columns() counts characters itself.

BEGIN {
	FUNCTION_LINES = 70
	FILE_LINES = 800
	FILE_LINES_NOTE = 500
	COLUMNS = 100
	TAB = 8

	read_layers()
	# Pure folders may include only these, with only the pure functions of stdio.h and stdlib.h.
	split("assert ctype elf errno float inttypes limits math stdalign stdarg stdatomic " \
	      "stdbool stddef stdint stdio stdlib stdnoreturn string strings endian byteswap " \
	      "arpa/inet netinet/in linux/types cpuid " \
	      "nmmintrin smmintrin immintrin x86intrin arm_acle", names, " ")
	impure = "(^|[^A-Za-z0-9_])(f?printf|puts|fopen|fread|fwrite|time|clock_gettime|" \
		 "getrandom|rand|random|socket|getenv)[ \t]*\\("

	# casts and layouts that read untrusted bytes through a struct
	struct_cast = "\\([ \t]*(const[ \t]+)?(struct|union)[ \t]+[a-z0-9_]+[ \t]*" \
		      "\\*+[ \t]*(const)?\\)[ \t]*[A-Za-z_(&]"
	# exceptions: casts for socket calls, and of integers that hold a trusted pointer
	allowed_cast = "\\([ \t]*(const[ \t]+)?struct[ \t]+" \
		       "(sockaddr(_[a-z0-9]+)?|cmsghdr)[ \t]*\\*|" \
		       "\\*[ \t]*\\)\\(uintptr_t\\)"
	# pipes into a command that exits early: the writer may die of SIGPIPE
	ends_early = "(^|[^|])\\|&?[ \t]*(head([ \t]|$)|" \
		     "e?grep[ \t]+(-[^ \t]+[ \t]+)*-[A-Za-z]*[qm])"
	# Replaced words of docs/glossary.md. Comments and texts must not use them.
	split("whoever whom nobody somebody everybody told tells asks elder elders haul hauls " \
	      "cell cells keeper greeting stranger strangers trespass boxes doors " \
	      "likewise", words, " ")
	for (i in words)
		replaced[words[i]] = 1
	# Rejected only in texts for users; comments use some of them for people.
	split("say says said ask asked he his him box room awake asleep", words, " ")
	for (i in words)
		replaced_in_text[words[i]] = 1
	# The same as parts of identifiers, between underscores. Exempt: registers, metrics and wire
	# flags of docs/reference.
	split("take takes taken tell tells told say says said ask asks asked asking room rooms " \
	      "box boxes boxed door doors turn turns turned elder elders train trains keeper " \
	      "life lives greet greeting greetings who whom whose whoever he his him mine ours " \
	      "nobody somebody stranger strangers trespass cell cells haul hauls bell aside " \
	      "asleep awake hear hears heard", words, " ")
	for (i in words)
		replaced_part[words[i]] = 1
	split("BRIDGE_IN_TAKEN BRIDGE_OUT_TAKEN CFG_BRIDGE_IN_TAKEN CFG_BRIDGE_OUT_TAKEN " \
	      "credits_asked INC_FLAG_TRAIN", words, " ")
	for (i in words)
		kept_name[words[i]] = 1

	# Product folders, where global functions must have a prefix, unless other software names
	# them, or crc32c, an algorithm.
	prefixed = "^\\./(src|plugins|cmd|bench)/.*\\.c$"
	given_name = "^(main|crc32c|MPI_[A-Za-z_]+|cl[A-Z][A-Za-z]*)$"

	# Calls that open a descriptor, and the wrapper that moves it above 2 (base/descriptor.h).
	opens = "(^|[^A-Za-z0-9_.>])(open|openat|socket|accept4?|epoll_create1?|eventfd|" \
		"memfd_create|signalfd|timerfd_create|inotify_init1?|pidfd_open|pipe2?|" \
		"socketpair|dup)[ \t]*\\("
	opens_file = "(^|[^A-Za-z0-9_.>])(fopen|opendir|popen)[ \t]*\\("
	raised = "descriptor_raise(_pair)?\\([ \t]*(open|openat|socket|accept4?|epoll_create1?|" \
		 "eventfd|memfd_create|signalfd|timerfd_create|inotify_init1?|pidfd_open|pipe2?|" \
		 "socketpair|dup)[ \t]*\\("
	packed = "__attribute__[ \t]*\\(\\(.*packed|#[ \t]*pragma[ \t]+pack"
	for (i in names)
		is_pure[names[i] ".h"] = 1

	# Folders that decode untrusted bytes.
	guarded["wire"] = guarded["rltp"] = guarded["nic"] = guarded["link"] = 1
	guarded["inc"] = guarded["switch"] = 1

	while ((getline path) > 0)
		paths[++path_count] = path
	for (i = 1; i <= path_count; i++)
		if (paths[i] ~ /\.h$/)
			note_header(paths[i])
	for (i = 1; i <= path_count; i++)
		check_file(paths[i])
}

# Nouns of a folder's headers may be prefixes of its functions.
function note_header(path,    parts, count, folder) {
	count = split(path, parts, "/")
	folder = path
	sub(/[^\/]*$/, "", folder)
	if (parts[count] !~ /^(internal|limits)\.h$/)
		headers[folder] = headers[folder] " " noun_of(parts[count])
}

# Returns the noun in a file's name: session_send for "session_send.c".
function noun_of(name) {
	sub(/^dxp-/, "", name)
	sub(/(_internal)?\.[a-z.]+$/, "", name)
	return name
}

# Reads which folders each folder of src/ may include, and whether it is pure or mixed.
function read_layers(    line, parts, names) {
	while ((getline line < layers) > 0) {
		if (line !~ /^[a-z]/)
			continue
		split(line, parts, ":")
		split(parts[1], names, " ")
		knows[names[1]] = names[1] parts[2]
		pure[names[1]] = names[2] == "pure"
		mixed[names[1]] = names[2] == "mixed"
	}
	close(layers)
}

function finding(text) {
	print substr(file, 3) ":" line_number ": " text
}

# Counts columns: a tab goes to a multiple of eight, a UTF-8 character is one.
function columns(line,    parts, n, i, width) {
	gsub(/[\200-\277]/, "", line)
	n = split(line, parts, "\t")
	width = length(parts[1])
	for (i = 2; i <= n; i++)
		width = width - width % TAB + TAB + length(parts[i])
	return width
}

# was_in: the line starts inside a comment.
function comment_of(line, was_in,    text, at) {
	text = ""
	if (!was_in) {
		at = index(line, "/*")
		if (!at)
			return ""
		line = substr(line, at + 2)
	}
	while ((at = index(line, "*/")) > 0) {
		text = text " " substr(line, 1, at - 1)
		line = substr(line, at + 2)
		at = index(line, "/*")
		line = at ? substr(line, at + 2) : ""
	}
	return text " " line
}

# Words are letters between blanks and punctuation; names with _ or ( are code.
function check_words(text,    count, list, i, word) {
	gsub(/`[^`]*`|"[^"]*"|[a-z_]+\.[a-z]+/, " ", text)
	count = split(tolower(text), list, /[ \t,;:.!?]+|\(|\)/)
	for (i = 1; i <= count; i++) {
		word = list[i]
		if (word in replaced)
			finding("\"" word "\" in a comment; docs/glossary.md has the word to use")
	}
}

function check_comment(text, was_in) {
	check_words(text)
	check_phrases(text, was_in)
}

# Rejects phrases that a new reader cannot resolve: "as NAME" alone or "Like NAME," has no verb,
# others name no thing.
function check_phrases(text, was_in,    begin, name) {
	gsub(/`[^`]*`|"[^"]*"/, "x", text)
	begin = was_in ? "[.] +(As|Like) " : "(^[ \t*]*|[.] +)([Aa]s|[Ll]ike) "
	name = "(in )?(struct )?[a-z0-9]*(_|[(])[A-Za-z0-9_.()]*[ \t]*([.,;:]|$)"
	if (text ~ begin name)
		finding("a comment \"as NAME\" or \"Like NAME\" without a verb; write " \
			"\"see NAME\", or what the function does")
	if (text ~ /(^|[^A-Za-z])a creation([^A-Za-z]|$)/)
		finding("\"a creation\" in a comment; name what is created")
	if (text ~ /(^|[^A-Za-z])(its|with the) (terminating )?zero([^A-Za-z]|$)/)
		finding("\"its zero\" in a comment; write that the text ends with a zero byte")
}

# ---- texts that users read ----

# Returns string literals of several words, without escapes and conversions.
function literals_of(line,    text, literal, at) {
	text = ""
	gsub(/\\[nt]/, " ", line)
	gsub(/\\./, "", line)
	gsub(/'"'/, "", line)
	while (match(line, /"[^"]*"/)) {
		at = index(line, "/*")
		if (at && at < RSTART)
			break
		literal = substr(line, RSTART + 1, RLENGTH - 2)
		if (literal ~ /[A-Za-z,;:.] +[A-Za-z%]/)
			text = text " " literal
		line = substr(line, RSTART + RLENGTH)
	}
	gsub(/%[-+0-9.*#]*[a-z]+/, "%", text)
	return text
}

# Texts of programs, not of tests; words as in check_words.
function check_literals(line,    text, count, list, i, word) {
	text = literals_of(line)
	count = split(tolower(text), list, /[ \t,;:.!?]+|\(|\)/)
	for (i = 1; i <= count; i++) {
		word = list[i]
		if (word in replaced || word in replaced_in_text)
			finding("\"" word "\" in a text for users; docs/glossary.md has the word")
	}
}

# Rejects replaced words as parts of identifiers.
function check_identifiers(code,    name, parts, count, i) {
	while (match(code, /[A-Za-z_][A-Za-z0-9_]*/)) {
		name = substr(code, RSTART, RLENGTH)
		code = substr(code, RSTART + RLENGTH)
		if (name in seen_name)
			continue
		count = name in kept_name ? 0 : split(tolower(name), parts, "_")
		for (i = 1; i <= count && !(parts[i] in replaced_part); i++)
			continue
		if (i <= count)
			finding("\"" parts[i] "\" in `" name \
				"`; docs/glossary.md has the word to use")
		seen_name[name] = 1
	}
}

# Returns whether a name starts with `noun`, its first words, or their plural or singular, and an
# underscore.
function starts_with(name, noun,    stem) {
	for (stem = noun; stem != ""; ) {
		if (index(name, stem "_") == 1 || index(name, stem "s_") == 1 ||
		    index(name, stem "es_") == 1)
			return 1
		if (stem ~ /s$/ && index(name, substr(stem, 1, length(stem) - 1) "_") == 1)
			return 1
		if (stem ~ /y$/ && index(name, substr(stem, 1, length(stem) - 1) "ies_") == 1)
			return 1
		if (stem ~ /ies$/ && index(name, substr(stem, 1, length(stem) - 3) "y_") == 1)
			return 1
		if (!sub(/_[^_]*$/, "", stem))
			return 0
	}
	return 0
}

# Checks a global function's prefix; `head` starts its definition.
function check_prefix(head,    name, parts, count, nouns, i, folder, folder_at, line_at) {
	if (file !~ prefixed || file ~ /\.bpf\.c$|\/rv32\/runtime\// ||
	    head ~ /^(static|typedef|#)/ ||
	    head ~ /^[A-Z_]+\(/ || head ~ / static / ||
	    !match(head, /[A-Za-z_][A-Za-z0-9_]*[ \t]*\(/))
		return
	name = substr(head, RSTART, RLENGTH)
	sub(/[ \t]*\($/, "", name)
	count = split(file, parts, "/")
	folder_at = count - 1
	folder = file
	sub(/[^\/]*$/, "", folder)
	if (name ~ given_name || starts_with(name, "dxp"))
		return
	count = split("bench " parts[folder_at] " " parts[3] " " noun_of(parts[count]) \
		      headers[folder], nouns, " ")
	for (i = file ~ /^\.\/bench\// ? 1 : 2; i <= count; i++)
		if (starts_with(name, nouns[i]))
			return
	line_at = line_number
	line_number = head_start
	finding("global `" name "` has no prefix; start it with " parts[folder_at] "_, or with " \
		"the noun of its file or of a header of its folder")
	line_number = line_at
}

function check_source(line,    was_in, code) {
	was_in = in_comment
	if (!was_in && file !~ /^\.\/test\// && line !~ /^[ \t]*#[ \t]*include/)
		check_literals(line)
	code = code_of(line)
	check_c(line, code)
	if (code !~ /^[ \t]*#[ \t]*include/)
		check_identifiers(code)
	if (was_in || index(line, "/*"))
		check_comment(comment_of(line, was_in), was_in)
}

function check_file(path,    line) {
	file = path
	line_number = 0
	c_source = path ~ /\.(c|h|cl)$/
	script = 0
	in_comment = 0
	split("", seen_name)
	piped = ""
	listed = ""
	body_start = 0
	head_start = 0
	folder = ""
	if (path ~ /^\.\/src\/[^\/]+\//) {
		split(path, parts, "/")
		folder = parts[3]
	}
	in_library = path ~ /^\.\/(src|plugins)\/.*\.c$/ &&
		     path !~ /^\.\/src\/base\/(descriptor|program)\.c$/
	opening = ""
	is_core = pure[folder] || (mixed[folder] && !does_io(path))
	while ((getline line < path) > 0) {
		line_number++
		if (line_number == 1)
			script = line ~ /^#!/ || path ~ /CMakeLists\.txt$/ ||
				 path ~ /(Makefile|\.(cmake|sh|awk))$/
		check_text(line)
		if (line_number <= 2)
			check_licence(line)
		if (script)
			check_script(line)
		if (c_source)
			check_source(line)
	}
	close(path)
	if ((c_source || script) && line_number > FILE_LINES)
		finding("file has " line_number " lines, at most " FILE_LINES "; split it by noun")
	else if ((c_source || script) && line_number > FILE_LINES_NOTE)
		print substr(file, 3) ": note: " line_number " lines; think of splitting past " \
		      FILE_LINES_NOTE
	if (c_source && line_number == 0)
		finding("file is empty")
	# rv32/runtime runs on an xPU, so this rule does not apply
	if (path ~ /^\.\/(src|cmd|plugins)\/.*\.c$/ && path !~ /\/rv32\/runtime\//)
		check_listed(path)
}

# The build has no file patterns, so the nearest CMakeLists.txt must list each source.
function check_listed(path,    folder, name) {
	folder = path
	while (sub(/\/[^\/]*$/, "", folder))
		if (list_of(folder) != "") {
			name = substr(path, length(folder) + 2)
			if (index(lists[folder], " " name " ") == 0)
				finding("not in " substr(folder, 3) "/CMakeLists.txt; " \
					"list it there")
			return
		}
}

# Returns the words of a folder's CMakeLists.txt; "" if there is none.
function list_of(folder,    line) {
	if (!(folder in lists)) {
		lists[folder] = ""
		while ((getline line < (folder "/CMakeLists.txt")) > 0) {
			gsub(/[()\t]|\$\{CMAKE_CURRENT_SOURCE_DIR\}\//, " ", line)
			lists[folder] = lists[folder] " " line " "
		}
		close(folder "/CMakeLists.txt")
	}
	return lists[folder]
}

function does_io(path,    line, found) {
	found = path ~ /\.bpf\.[ch]$/
	while ((getline line < path) > 0)
		if (line ~ /^#[ \t]*include[ \t]+("link\/|"base\/(clock|descriptor)\.h|<bpf\/)/)
			found = 1
	close(path)
	return found
}

# For every text file; the patterns do not match their own lines here.
function check_text(line) {
	if (line ~ /[ \t]$/ && file !~ /\.md$/)
		finding("space at the end of the line")
	if (line ~ /(^|[^A-Za-z0-9_])(TO[D]O|FIX[M]E|X[X]X)([^A-Za-z0-9_]|$)/)
		finding("a note to do it later; do it, or open an issue")
	if (line ~ /(^|[^A-Za-z0-9_.$}*])\/(roo[t]|wor[k]|hom[e])\//)
		finding("path of one machine")
	if ((c_source || script) && columns(line) > COLUMNS)
		finding("line has " columns(line) " columns, at most " COLUMNS)
}

function check_licence(line,    want) {
	want = "SPDX-License-Identifier: BSD-3-Clause"
	if (c_source && line_number == 1 && line != "/* " want " */")
		finding("first line must be /* " want " */")
	if (!script)
		return
	if (line_number == 1 && line !~ /^#!/ && line != "# " want)
		finding("first line must be # " want)
	if (line_number == 1)
		shebang = line ~ /^#!/
	if (line_number == 2 && shebang && line != "# " want)
		finding("second line must be # " want)
}

# A pipe may continue on the next line.
function check_script(line) {
	if (line ~ /^[ \t]*#/)
		return
	if (piped line ~ ends_early)
		finding("a pipe whose reader ends early, which kills the writer; read all of it " \
			"(`has` of test/net/lib_text.sh, sed)")
	piped = line ~ /(^|[^|])\|[ \t]*\\?$/ ? "|" : ""
	if (file ~ /CMakeLists\.txt$/)
		check_sorted(line)
}

# Checks that sources on lines of their own are sorted.
function check_sorted(line) {
	if (line !~ /^\t+[a-z0-9_.\/]+\.c\)?$/) {
		listed = ""
		return
	}
	gsub(/[\t)]/, "", line)
	if (listed != "" && line <= listed)
		finding("\"" line "\" stands after \"" listed "\"; sort the list")
	listed = line
}

function check_c(line, code) {
	if (line ~ /\/\*[ \t*=_-]*\*\// || line ~ /\/\/[ \t\/*=_-]*$/)
		finding("empty comment")
	if (code ~ /^[ \t]*#[ \t]*include/)
		check_include(line)
	check_function(code)
	if (guarded[folder])
		check_guarded(code)
	if (in_library)
		check_opens(code)
	if (is_core && code ~ impure)
		finding("src/" folder " makes no system call and reads no clock")
}

# A body starts and ends with a brace in column 1 (kernel style). head_start: first line of the
# declaration.
function check_function(code) {
	if (body_start) {
		if (code ~ /^}/) {
			if (line_number - head_start + 1 > FUNCTION_LINES)
				long_function()
			body_start = head_start = 0
		}
	} else if (code ~ /^{/) {
		body_start = line_number
		if (head_start)
			check_prefix(head_text)
		else
			head_start = line_number
	} else if (code ~ /^[ \t]*$/ || code ~ /^[#}]/ || code ~ /;[ \t]*$/) {
		head_start = 0
	} else if (!head_start) {
		head_start = line_number
		head_text = code
	}
}

function long_function(    last, count) {
	last = line_number
	count = last - head_start + 1
	line_number = head_start
	finding("function has " count " lines, at most " FUNCTION_LINES)
	line_number = last
}

# Untrusted bytes are decoded field by field, never through a struct.
function check_guarded(code) {
	if (code ~ struct_cast && code !~ allowed_cast)
		finding("bytes cast to a struct; decode them by offset")
	if (code ~ packed)
		finding("packed struct; describe the layout by offsets")
}

# Programs may have closed 0, 1 or 2, so library code must not open descriptors directly. A call may
# continue on the next line.
function check_opens(code,    text) {
	text = opening code
	gsub(raised, "", text)
	if (text ~ opens)
		finding("a descriptor that may become 0, 1 or 2; put descriptor_raise around the " \
			"call")
	if (text ~ opens_file)
		finding("a file that may become descriptor 0, 1 or 2; use base/descriptor.h")
	opening = code ~ /descriptor_raise(_pair)?\([ \t]*$/ ? "descriptor_raise(" : ""
}

function check_include(line,    path, system_header, to) {
	system_header = line ~ /include[ \t]*</
	path = line
	sub(/^[^<"]*[<"]/, "", path)
	sub(/[>"].*/, "", path)

	if (path ~ /(^|\/)\.\.\//)
		finding("include by the path from src/, not by ../")
	if (file ~ /^\.\/include\/dxp\// && path !~ /^dxp\// && !system_header)
		finding("a public header includes nothing from src/")
	if (folder == "")
		return
	if (system_header) {
		if (is_core && !is_pure[path] && path !~ /^(dxp|openssl)\//)
			finding("src/" folder " may not include <" path ">: no I/O, no clock")
		return
	}
	to = path
	sub(/\/.*/, "", to)
	if (is_core && path == "base/clock.h")
		finding("src/" folder " receives the time as an argument")
	if (to != folder && path ~ /internal\.h$/)
		finding("src/" folder " may not include \"" path "\": internal to src/" to)
	if (!(folder in knows))
		finding("src/" folder " has no layer; add it to src/layers and docs/design")
	else if (index(" " knows[folder] " ", " " to " ") == 0)
		finding("src/" folder " may not include \"" path "\"; it knows: " knows[folder])
}
