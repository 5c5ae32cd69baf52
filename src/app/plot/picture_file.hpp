// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace ringweave::detail::inline app {

enum class PictureFormat { png, pdf, svg };
/// Returns the format by extension: .png, .pdf, .svg; png for others.
PictureFormat picture_format(const std::string& name);

/// A file to write a picture to: the temporary path of an AtomicOutput, whose name says nothing.
struct PictureFile {
  std::string path;
  PictureFormat format = PictureFormat::png;
  double dots_per_inch = 160;
};

}  // namespace ringweave::detail::inline app
