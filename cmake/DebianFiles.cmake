# SPDX-License-Identifier: GPL-3.0-or-later
# Run by cpack between installation and packing: Debian wants man pages compressed, and a file named copyright in place of
# the licence, which every system has.
set(doc ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/doc/ringweave)
file(GLOB pages ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/man/man1/*.1)
if(pages)
  execute_process(COMMAND gzip -9 -n ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
file(REMOVE ${doc}/LICENSE)
file(WRITE ${doc}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Ringweave

Files: *
Copyright: 2026 The Ringweave developers
License: GPL-3.0-or-later
 The full text is in /usr/share/common-licenses/GPL-3.
")
