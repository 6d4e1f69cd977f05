# abi.awk - reads trellis.h and writes a C program that prints its ABI: the types of every function, the place of every
# member of every struct and the number of every enumerator. It fails where the header breaks a rule of docs/abi.md: an
# enumerator without a number, or a struct of which nothing says whether it may grow.

function fail(what) {
    print "abi.awk: " what > "/dev/stderr"
    failed = 1
}

function trim(text) {
    gsub(/[ \t\n]+/, " ", text)
    sub(/^ /, "", text)
    sub(/ $/, "", text)
    return text
}

# The types of a list of parameters, without their names.
function types(list,    parts, count, i, result) {
    count = split(list, parts, ",")
    for (i = 1; i <= count; i++) {
        parts[i] = trim(parts[i])
        if (parts[i] != "void") {
            sub(/[a-z_0-9]+$/, "", parts[i])
        }
        result = result (i > 1 ? ", " : "") trim(parts[i])
    }
    return result
}

# "double low, high;" and the like: the program prints where each member is.
function members(type, body,    statements, names, count, more, i, k, name, first) {
    count = split(body, statements, ";")
    for (i = 1; i < count; i++) {
        more = split(statements[i], names, ",")
        for (k = 1; k <= more; k++) {
            name = names[k]
            sub(/\[.*/, "", name)
            match(name, /[a-z_0-9]+ *$/)
            name = trim(substr(name, RSTART))
            first = first == "" ? name : first
            printf "    MEMBER(%s, %s);\n", type, name
        }
    }
    return first
}

function structure(type, body, comment,    first, kind) {
    first = members(type, body)
    kind = first == "struct_size" ? "GROWS" : comment ~ /Never grows/ ? "FIXED" : comment ~ /May grow/ ? "GROWS" : ""
    if (kind == "") {
        fail(type " has no struct_size, and its comment says neither \"Never grows\" nor \"May grow\"")
        return
    }
    printf "    %s(%s);\n", kind, type
}

function enumeration(body,    parts, count, i, name) {
    count = split(body, parts, ",")
    for (i = 1; i <= count; i++) {
        if (parts[i] !~ /=/) {
            fail("no number:" parts[i])
        }
        name = parts[i]
        sub(/=.*/, "", name)
        printf "    VALUE(%s);\n", trim(name)
    }
}

{
    text = text $0 "\n"
}

END {
    print "#include <stddef.h>\n#include <stdio.h>\n#include \"trellis.h\""
    print "#define FIXED(type) printf(\"fixed %s %zu\\n\", #type, sizeof(type))"
    print "#define GROWS(type) printf(\"grows %s %zu\\n\", #type, sizeof(type))"
    print "#define MEMBER(type, name) printf(\"member %s.%s %zu %zu\\n\", #type, #name, offsetof(type, name), \\"
    print "                                  sizeof(((type *)0)->name))"
    print "#define VALUE(name) printf(\"value %s %d\\n\", #name, (int)(name))"
    print "#define STATUS(name, number, meaning) VALUE(TRELLIS_##name);"
    print "int main(void)\n{\n    TRELLIS_STATUS_LIST(STATUS)"
    gsub(/\/\/[^\n]*/, "", text)
    comment = ""
    while (match(text, /\/\*|typedef struct [a-z_]+ \{|enum[ a-z_]*\{|TRELLIS_API [^;]*;|typedef [^;{]*\(\*[^;]*;|\n#define [^\n]*/)) {
        token = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (token == "/*") {
            end = index(text, "*/")
            comment = substr(text, 1, end - 1)
            gsub(/\n \*/, " ", comment)
            comment = trim(comment)
            text = substr(text, end + 2)
        } else if (token ~ /\{$/) {
            end = index(text, "}")
            body = substr(text, 1, end - 1)
            text = substr(text, end + 1)
            if (token ~ /^enum/) {
                if (body !~ /#define/) { # TRELLIS_STATUS_LIST
                    enumeration(body)
                }
            } else {
                split(token, words, " ")
                structure(words[3], body, comment)
            }
            comment = ""
        } else if (token ~ /^TRELLIS_API/ || token ~ /^typedef/) {
            token = trim(substr(token, 1, length(token) - 1))
            sub(/^(TRELLIS_API|typedef) /, "", token)
            open = token ~ /\(\*/ ? index(token, ")(") + 1 : index(token, "(")
            name = substr(token, 1, open - 1)
            printf "    puts(\"function %s(%s)\");\n", name, types(substr(token, open + 1, length(token) - open - 1))
            comment = ""
        }
    }
    print "    return 0;\n}"
    exit failed
}
