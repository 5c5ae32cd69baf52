# SPDX-License-Identifier: GPL-3.0-or-later
# Makes Doxygen see what the comments of the headers mean:
#   /// Error  UsageError when ...       a paragraph with the title Error
#   /// alm    [my m][l], read only      an item of a list, with the name of the argument
s,^( *///) (Error|Cost|From|Memory|Unseen)  ?(\*|[A-Z]|as |a |the |[0-9]),\1 @par \2^^\3,
s,^( *///) ([a-z_]+)   *([^ ]),\1 - `\2` \3,
