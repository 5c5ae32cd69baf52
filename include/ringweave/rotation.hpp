// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>

#include <ringweave/alm.hpp>
#include <ringweave/communicator.hpp>
#include <ringweave/views.hpp>

namespace ringweave {

/// Coordinate systems of the sky: galactic (IAU 1958, HEALPix's G), celestial (right ascension and
/// declination, FK5 of J2000, C), and ecliptic (mean equinox and ecliptic of J2000, E).
enum class CoordinateSystem { galactic, celestial, ecliptic };

/// A 3 x 3 matrix R, [row][column], that takes the direction v to R v.
using RotationMatrix = std::array<std::array<double, 3>, 3>;

/// A rotation of the sphere by three angles in radians: first about the z axis by psi, then about
/// the y axis by theta, then about the z axis by phi. The axes stay, and positive angles turn
/// counterclockwise as seen from the tip of the axis: R = Rz(phi) Ry(theta) Rz(psi). These are the
/// angles of healpy.rotate_alm, ducc0.sht.rotate_alm and HEALPix C++.
struct EulerAngles {
  double psi = 0;    ///< first, about z
  double theta = 0;  ///< second, about y
  double phi = 0;    ///< last, about z

  /// Returns the angles of a matrix, theta in [0, pi]. At theta = 0 and pi, where one of the others
  /// is free, phi = 0.
  /// Error  UsageError unless it is a rotation to within 1e-6.
  static EulerAngles of(const RotationMatrix& matrix);
  /// Returns the rotation that takes the coordinates of a direction in the system `from` to those
  /// in the system `to`, and a_lm likewise, with the constants of healpy.Rotator(coord = [from,
  /// to]): Galactic pole and J2000 frames as in Astropy, with the mean ecliptic of IAU 2006.
  static EulerAngles between(CoordinateSystem from, CoordinateSystem to);

  /// Returns the angles of the rotation that undoes this one.
  EulerAngles inverse() const { return {-phi, -theta, -psi}; }
  /// Returns R.
  RotationMatrix matrix() const;
};

/// Returns the matrix that takes coordinates in the system `from` to those in the system `to`.
RotationMatrix matrix_between(CoordinateSystem from, CoordinateSystem to);

/// Options of rotate().
struct RotationOptions {
  /// Bytes one rank may take for a_lm on their way between ranks, beyond a few degrees; -1: an
  /// eighth of its a_lm.
  std::int64_t exchange_bytes = -1;
};

/// Rotates fields given by their a_lm, in place: the new field at R v is the old one at v. A
/// component is that of a scalar field, or E or B of a field with spin: all rotate alike,
///   a'_lm = sum over m' = -l..l of exp(-i m phi) d^l_mm'(theta) exp(-i m' psi) a_lm'
/// with a_l,-m = (-1)^m conj(a_lm), as for real fields. Imaginary parts of a_l0 are ignored.
///
/// alm    [component][my order m][l = m..lmax], as `layout` has them; every order is on one rank
/// Error  UsageError on all ranks when an angle is not finite, a shape is wrong, ranks disagree, or
///        mmax < lmax, unless theta is 0 or pi; ResourceError on all when memory fails one.
/// Cost   each degree is rotated on one rank, with O(l^2) operations; the a_lm are sent there and
///        back by MPI_Alltoallv, in blocks of degrees. Turns about z (theta = 0), and those with
///        theta = pi, are phases of single a_lm, and exact.
/// Results are bitwise the same for any number of ranks and threads. Collective.
///
/// From  Trapani & Navaza (2006), Acta Cryst. A62, 262; Risbo (1996), J. Geodesy 70, 383
template <class T>
void rotate(const Communicator& comm, const AlmLayout& layout, AlmView<T> alm,
            const EulerAngles& angles, const RotationOptions& options = {});
/// Does the same with a buffer. Collective.
template <class T>
void rotate(const Communicator& comm, const AlmLayout& layout,
            ComponentBuffer<std::complex<T>>& alm, const EulerAngles& angles,
            const RotationOptions& options = {}) {
  rotate<T>(comm, layout, alm.view(), angles, options);
}

}  // namespace ringweave
