# SPDX-License-Identifier: GPL-3.0-or-later
# Makes Doxygen see what the comments of the headers mean:
#   /// Error  UsageError when ...       a paragraph with the title Error, also within a line
#   /// alm    [my m][l], read only      an item of a list, with the name of the argument
s#^( *///) (Error|Cost|From|Memory|Unseen)  +#\1 @rw_\2 #
s#^( *///.*[.]) Error  +#\1 @rw_Error #
s#^( *///) {1,3}([a-z_]+)  +([^ ])#\1 - `\2` \3#
# In Markdown, links to files outside docs/ are text here.
s#\[([^]]*)\]\(\.\./[^)]*\)#\1#g
