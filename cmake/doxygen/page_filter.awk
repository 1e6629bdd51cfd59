# Prepares a page for Doxygen, from the root of the tree.
#  - Headings get names that are unique among all pages.
#  - Links to pages, headings and public headers become references; those to other files, which the site
#    does not have, become the text with the path.

# The name of a page: of include/muster/policy/README.md it is page_policy_README.
function page_name(path) {
    if (path == "README.md")
        return "index"
    sub(/\.md$/, "", path)
    sub(/^include\/muster\//, "", path)
    gsub(/[^A-Za-z0-9]/, "_", path)
    return "page_" path
}

# The path that a link of this page names, from the root.
function resolved(target) {
    target = folder target
    sub(/\/$/, "", target)
    while (match(target, /[^\/.][^\/]*\/\.\.\//))
        target = substr(target, 1, RSTART - 1) substr(target, RSTART + RLENGTH)
    gsub(/\/\.\//, "/", target)
    return target
}

# The anchor that GitHub makes of a heading.
function anchor(heading,    name) {
    sub(/^#+ +/, "", heading)
    while (match(heading, /\]\([^()]*\)/))
        heading = substr(heading, 1, RSTART - 1) substr(heading, RSTART + RLENGTH)
    name = tolower(heading)
    gsub(/[][!"#$%&\047()*+,.\/:;<=>?@\\^`{|}~]/, "", name)
    gsub(/ /, "-", name)
    return seen[name]++ ? name "-" seen[name] - 1 : name
}

function link(text, target,    path, heading, at) {
    if (target ~ /^[a-z]+:/)
        return "[" text "](" target ")"
    at = index(target, "#")
    heading = at ? substr(target, at + 1) : ""
    path = at == 1 ? page : resolved(at ? substr(target, 1, at - 1) : target)
    if (path ~ /^(README|CHANGELOG|include\/muster\/.*)\.md$/ || path == "README.md")
        return "[" text "](@ref " page_name(path) (heading ? "_" heading : "") ")"
    if (path ~ /^include\/muster\/.*\.hpp$/) {
        sub(/^include\//, "", path)
        # Doxygen takes no code spans in the text of a reference.
        gsub(/`/, "", text)
        return "[" text "](@ref " path ")"
    }
    return text == "`" path "`" ? text : text " (`" path "`)"
}

function flush(    made, found, middle, rest) {
    made = ""
    while (match(prose, /\[[^][]*\]\([^() ]+\)/)) {
        found = substr(prose, RSTART + 1, RLENGTH - 2)
        middle = index(found, "](")
        made = made substr(prose, 1, RSTART - 1)
        rest = substr(prose, RSTART + RLENGTH)
        made = made link(substr(found, 1, middle - 1), substr(found, middle + 2))
        prose = rest
    }
    printf "%s", made prose
    prose = ""
}

FNR == 1 {
    page = FILENAME
    sub("^" root "/", "", page)
    sub(/^\.\//, "", page)
    folder = page
    sub(/[^\/]*$/, "", folder)
}
/^ *```/ {
    if (!fenced)
        flush()
    fenced = !fenced
    # Doxygen colours what it knows.
    sub(/```text$/, "```")
    print
    next
}
fenced { print; next }
/^#+ / {
    name = anchor($0)
    if ($0 ~ /^# /)
        $0 = page == "README.md" ? $0 : $0 " {#" page_name(page) "}"
    else
        $0 = $0 " {#" page_name(page) "_" name "}"
}
{ prose = prose $0 "\n" }
END { flush() }
