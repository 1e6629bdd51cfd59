# Sourced by tests that look at every public header alone. Where one header includes another,
# directly or not, both can be looked at in one go, the included one first: all that is there would
# be there in any case.

# include_chains [AHEAD...]: in the folder include, prints a line for each header in AHEAD,
#   ahead HEADER
# and then lines that name every other header once, where each includes the one before it,
#   chain BEGIN HEADER...
# BEGIN is the first of AHEAD that each of them includes, directly or not, or `-`.
include_chains() {
    {
        find muster -name '*.hpp' -printf 'header %p\n' | sort
        grep -rHoE --include='*.hpp' '^#include <muster/[^>]+' muster |
            sed 's/:#include </ /; s/^/edge /'
    } | awk -v ahead="$*" '
        $1 == "header" { headers[++count] = $2; next }
        { included[$2] = included[$2] " " $3 }
        # All that `header` includes, and itself.
        function reach(header, from, names, i, many) {
            if ((header, from) in reached)
                return
            reached[header, from] = 1
            ++size[header]
            many = split(included[from], names, " ")
            for (i = 1; i <= many; ++i)
                reach(header, names[i])
        }
        function begin_of(header, i) {
            for (i = 1; i <= ordered; ++i)
                if ((header, order[i]) in reached)
                    return order[i]
            return "-"
        }
        # Of those that no chain has yet the one that includes most; where `from` is a header, of
        # those that it includes and that begin as it does.
        function largest(from, found, i, header) {
            for (i = 1; i <= count; ++i) {
                header = headers[i]
                if (header in taken || found != "" && size[header] <= size[found])
                    continue
                if (from == "" || (from, header) in reached && begin[header] == begin[from])
                    found = header
            }
            taken[found] = 1
            return found
        }
        END {
            ordered = split(ahead, order, " ")
            for (i = 1; i <= count; ++i) {
                reach(headers[i], headers[i])
                begin[headers[i]] = begin_of(headers[i])
            }
            for (i = 1; i <= ordered; ++i) {
                taken[order[i]] = 1
                print "ahead", order[i]
            }
            while ((header = largest("")) != "") {
                chain = ""
                for (last = header; header != ""; header = largest(header))
                    chain = " " header chain
                print "chain " begin[last] chain
            }
        }'
}
