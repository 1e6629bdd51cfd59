# Prepares a header for Doxygen.
#  - A comment before the first include or declaration is about the file.
#  - The inline namespace is left out: programs do not spell it.
FNR == 1 { declared = 0; about_file = 0 }
/^(#include|#define|#if|namespace|extern)/ { declared = 1 }
/^inline namespace v[0-9_]+ \{$/ || /^} \/\/ namespace v[0-9_]+$/ { print ""; next }
!declared && !about_file && /^\/\/\/ / {
    about_file = 1
    sub(/^\/\/\/ /, "/// \\file\n/// ")
}
{ print }
