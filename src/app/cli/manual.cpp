// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/manual.hpp"

#include <algorithm>
#include <string>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {

const std::array<ManualPage, 15> manual_pages{{
    {"synthesize", "make a map from a spectrum or from a_lm",
     "OUT (--cl FILE | --alm FILE) (--nside N | --grid GRID) [OPTION...]",
     R"(Draws Gaussian a_lm from a power spectrum, or reads them from a file, and synthesizes a map:
T, or T, Q and U if the input is polarised. A seed gives the same realisation on any number of
ranks and threads.

With several seeds (--seed 1..16) OUT and --save-alm must contain {seed}. Each map is written as
soon as it is done; SIGUSR1 and SIGTERM end such a run with exit status 75 after the maps in
progress are written, and --resume continues.

Spectra are C_l unless their header says D_l or --cl-kind does: those of CAMB and Planck are D_l
and do not say so. The map's unit is that of the spectrum, uK for uK^2, or --unit, to which K, mK,
uK, nK and pK are converted. Without --seed, the seed that was chosen is printed.

--fwhm, --beam and --pixel-window multiply the a_lm before the synthesis and before --save-alm.
--noise adds white noise to the pixels, which depends on the seed and the pixel alone. Pixels
without an rms or without hits become UNSEEN. --noise-column chooses a column of its file.
Grids are HEALPix of any N, Gauss-Legendre (not in FITS), and Clenshaw-Curtis and Fejer (in FITS
as images in the CAR projection).)",
     R"(ringweave synthesize --cl examples/lcdm_cl.txt --seed 1 --nside 512 sky.fits
mpirun -n 8 ringweave synthesize --cl cl.txt --seed 7 --nside 4096 --fwhm 5arcmin sky.h5
ringweave synthesize --cl camb_totCls.dat --cl-kind dl --seed 1 --nside 512 --unit K sky.fits
ringweave synthesize --cl cl.txt --seed 1..16 --nside 512 'sky_{seed}.h5' --resume
ringweave synthesize --cl cl.txt --seed 3 --nside 512 --noise rms.fits sky.h5
ringweave synthesize --cl cl.txt --nside 512 --noise map.fits --noise-column RMS sky.h5
ringweave synthesize --alm alm.h5 --grid gauss:767 sky.h5
ringweave synthesize --alm alm.fits --nside 1024 --pixel-window auto sky.fits
ringweave synthesize --alm alm.fits --nside 1024 --latitudes=-10deg:10deg band.h5)",
     true},
    {"analyze", "compute the a_lm and power spectra of a map",
     "MAP [MAP2] (--alm OUT | --cl OUT | both) [OPTION...]",
     R"(Computes the a_lm of a map and, with --cl, their power spectra TT, or TT EE BB TE EB TB. On
HEALPix grids the quadrature is approximate and corrections (--iter, --tol) or weights
(--weights) improve it; on the other grids it is exact. The residual that is left is printed; if
corrections make it grow, lmax is beyond what the grid holds, which is an error.

Of two maps on one grid it computes the cross spectra, nine of polarised ones: TT EE BB TE EB TB
ET BE BT, the first letter for the first map. Files of a_lm may stand for the maps. Where one is in
K and the other in uK, the spectra are in the square of the first's unit; of other units, which are
not converted, in their product.

UNSEEN pixels count as zero and are reported. --mask sets masked pixels to zero, --apodise softens
its edge, and both make the spectra smaller: of a sky masked to 40 % they have 40 % of the power,
less with a soft edge. --divide-by-fsky corrects that. Nothing corrects for the neighbouring
degrees that a mask mixes.)",
     R"(ringweave analyze sky.fits --cl cl.txt
ringweave analyze sky_1.fits sky_2.fits --cl cross.txt
ringweave analyze alm_1.h5 alm_2.h5 --lmax 1000 --cl cross.fits
ringweave analyze sky.fits --mask mask.fits --cl cl_masked.txt
ringweave analyze sky.fits --mask mask.fits --apodise 2deg --divide-by-fsky --cl cl.txt
ringweave analyze sky.fits --lmax 1000 --iter 3 --alm alm.fits --cl cl.txt
mpirun -n 8 ringweave analyze sky.h5 --tol 1e-10 --alm alm.h5 --report job.json
ringweave analyze sky.fits --iter 0 --weights ring --cl cl.txt
ringweave analyze sky.fits --iter 0 --weights pixel:healpix/data --cl cl.txt)",
     true},
    {"smooth", "convolve a map with a radial kernel",
     "MAP... OUT (--fwhm ANGLE | --beam FILE | --kernel FILE) [OPTION...]",
     R"(Convolves a map with a Gaussian, a table of b_l, or any radial profile. Order, units,
coordinates and precision of the input are kept.

--from-fwhm, --from-beam and --from-pixel-window say what beam and pixel window the map has: the
kernel then replaces them. --nside or --grid puts the smoothed map on another grid, with
--pixel-window with the window of its pixels; these two need no kernel. All of it is done in one
go, without a file of a_lm. A changed grid takes a_lm up to what both grids hold.

--method harmonic multiplies the a_lm and synthesizes the map again. --method ring sums over
the pixels within the kernel's support instead, each with its quadrature weight: the result of
--iter 0, to the relative error --error, but exactly zero beyond the support, and fast for
narrow kernels. Q and U are carried along great circles; where E and B have different beams the
kernels are wide and slow. --method split does both, on full HEALPix maps: it writes the kernel
as a sum of few degrees, for a_lm, and a compact rest, for the rings (see `ringweave split`); on
several ranks one after the other, or at the same time on two groups of ranks, whichever is
predicted to be faster (--harmonic-ranks). The kernel of Q and U has a split of its own.
--stage harmonic=PLACE,rings=PLACE, each host or cuda, puts either part on a GPU (--backend cuda
the harmonic one, auto both where the machine file predicts it). --method auto takes, and prints, the one predicted to be fastest to --error
(see --machine) with --iter 0, else harmonic.

Several maps of one grid and format can be smoothed in one launch; OUT, which comes last, then
contains {name}, the map's name without folder and extension. Each map is written as soon as it
is done; SIGUSR1 and SIGTERM end such a run with exit status 75 after the maps in progress are
written, and --resume continues.

UNSEEN pixels are zero for the convolution, and so are those of --mask; --unseen determines their
result. On another grid a pixel is UNSEEN where less than half of the mask is left, to lmax.)",
     R"(ringweave smooth sky.fits smooth.fits --fwhm 30arcmin
mpirun -n 8 ringweave smooth sky.h5 smooth.h5 --fwhm 30arcmin --iter 3 --report job.json
ringweave smooth sky_1.h5 sky_2.h5 'smooth_{name}.h5' --fwhm 30arcmin --resume
ringweave smooth --maps list.txt 'smooth_{name}.h5' --fwhm 30arcmin
ringweave smooth sky.fits smooth.fits --beam beam.txt --fields T --iter 0
ringweave smooth masked.fits smooth.fits --fwhm 1deg --unseen normalize
ringweave smooth sky.fits smooth.fits --fwhm 1deg --mask mask.fits --unseen normalize
ringweave smooth sky.fits low.fits --from-fwhm 5arcmin --fwhm 40arcmin --nside 128
ringweave smooth sky.fits low.fits --nside 128 --from-pixel-window auto --pixel-window auto
ringweave smooth sky.h5 smooth.h5 --fwhm 30arcmin --fields T --iter 0
ringweave smooth sky.h5 smooth.h5 --fwhm 30arcmin --fields T --method ring
ringweave smooth sky.h5 smooth.h5 --kernel disc.txt --fields T --method ring --error 1e-8
ringweave smooth sky.h5 smooth.h5 --fwhm 1deg --dry-run)",
     true},
    {"alm", "cut, multiply, add and rotate a_lm", "IN OUT [OPTION...]",
     R"(Changes a_lm in files, distributed over the ranks: keeps degrees up to --lmax, filled with zeros
beyond the input's, adds those of other files (--add), multiplies by f_l (--multiply), and rotates
(--rotate), in this order. Euler angles are those of healpy.rotate_alm: the field is turned by psi
about the z axis, then by theta about the y axis, then by phi about the z axis.
--take writes one component as that of a scalar field: synthesized, E and B of Q and U become maps
of their own.)",
     R"(ringweave alm alm.fits low.fits --lmax 500
ringweave alm signal.h5 sum.h5 --add noise.h5
ringweave alm alm.h5 filtered.h5 --multiply filter.txt
mpirun -n 8 ringweave alm galactic.h5 celestial.h5 --rotate G:C
ringweave alm alm.fits turned.fits --rotate 10deg,20deg,30deg
ringweave alm alm.h5 e.h5 --take E && ringweave synthesize --alm e.h5 --nside 512 e_map.fits)",
     false},
    {"interpolate", "values of maps or a_lm at any points, or the adjoint",
     "(MAP | --alm FILE | --adjoint VALUES --lmax L) OUT --points FILE [OPTION...]",
     R"(Computes the values of a_lm at any points, in the order of their file, or the exact
transpose: the a_lm whose inner product with others is that of the values. A map is analysed
first, as by `ringweave analyze`; its values are those of its a_lm up to --lmax. Points that each
have an angle psi, the orientation of a detector, get T + Q cos(2 psi) + U sin(2 psi):
time-ordered data, and with --adjoint their map-making. Both are distributed over the ranks,
whatever the points.)",
     R"(ringweave interpolate --alm alm.h5 --points points.txt values.txt
mpirun -n 8 ringweave interpolate --alm alm.h5 --points scan.h5 stream.h5 --epsilon 1e-10
ringweave interpolate sky.fits --points points.txt values.txt --lmax 1000 --iter 3
ringweave interpolate --alm alm.h5 --points scan.h5 stream.h5 --dry-run
ringweave interpolate --adjoint stream.h5 --points scan.h5 --lmax 1000 back.h5)",
     true},
    {"lens", "lens a map, or the adjoint or inverse of lensing",
     "[--inverse] OUT --alm FILE --potential FILE (--nside N | --grid GRID) [OPTION...]\n"
     "OUT --cl FILE (--nside N | --grid GRID) [OPTION...]\n"
     "OUT --adjoint MAP --potential FILE --lmax L [OPTION...]\n"
     "--inverse MAP OUT --potential FILE [--nside N | --grid GRID] [OPTION...]",
     R"(Makes a lensed map: the unlensed field at points that are displaced by the deflection d, the
gradient of the lensing potential phi in radians (d = + grad phi), along great circles. Q and U are
turned with the frame that is carried along. --curl adds a field of curl modes. The potential is
used to its own lmax.

With --cl the unlensed a_lm and the potential are drawn from spectra TT EE BB TE PP TP EP, with
their correlations, as CAMB writes them (lenspotentialCls: give --cl-kind dl). T, E and B are those
of `synthesize` with the same seed.

A lensed map has power beyond the lmax of the unlensed one, which must be larger than the highest
lensed degree that is wanted. --lensed-lmax cuts the map there.

--adjoint computes the exact transpose of lensing, from a map to a_lm; it is not the inverse, and
there are no weights unless --weights and --magnification ask for them. --inverse moves a map, or
a_lm, back: it is remapped by the inverse deflection, up to the degrees that lensing has moved
beyond lmax.)",
     R"(ringweave lens --cl lenspotentialCls.dat --cl-kind dl --seed 1 --lmax 3000 --nside 1024 lensed.h5
ringweave lens --alm alm.h5 --potential phi.h5 --nside 2048 lensed.h5 --deflection d.h5
mpirun -n 8 ringweave lens --alm alm.h5 --potential phi.h5 --grid gauss:4095 lensed.h5
ringweave lens --alm alm.h5 --potential kappa.h5 --potential-kind kappa --nside 512 lensed.h5
ringweave lens --adjoint lensed.h5 --potential phi.h5 --lmax 2000 back.h5
ringweave lens --inverse lensed.h5 --potential phi.h5 --lmax 2000 delensed.h5)",
     false},
    {"gyroaverage", "average fields in the plane over circles",
     "FIELD OUT (--rho RADII | --rho-file FILE | --rho-field NAME) [OPTION...]",
     R"(Averages fields on a rectangle of nodes over circles about every node, of given radii in the units
of the coordinates: bilinear and bicubic interpolation, the padded cosine transform times J0 (dct),
or polynomials through Chebyshev nodes. Arcs are integrated exactly, not sampled. Outside the
rectangle fields are zero, or periodic or mirrored (--boundary).

FIELD is an HDF5 or NetCDF-4 file with a data set of rank 2 or more, whose last two axes are y and
x, with their coordinates. Every index of the axes before is a field. OUT has the axes (rho,
fields..., y, x).

--combine each averages every field over every radius, double does it twice. pairs averages fields
with an axis rho over the radius of their index there, and sum adds these averages with --weights:
OUT has no axis rho. --adjoint computes the exact transpose, from results to fields, with the shapes
exchanged: that of each and double sums over the radii of its axis rho.

An error to expect is given for dct, the largest value at the edge over the largest, for chebyshev,
the coefficients of the highest tenth of degrees over the largest, and for bilinear and bicubic with
--estimate. Averages over circles that are larger than the rectangle are zero.)",
     R"(ringweave gyroaverage phi.h5 averaged.h5 --rho 0.1,0.2,0.4
mpirun -n 8 ringweave gyroaverage phi.nc averaged.nc --rho 0.02:0.7:35 --boundary y=periodic
ringweave gyroaverage density.h5 integral.h5 --combine sum --weights velocities.h5:weights
ringweave gyroaverage phi.h5 smooth.h5 --rho 0.3 --method dct --padding 40 --report report.json
ringweave gyroaverage averaged.h5 back.h5 --rho 0.1,0.2,0.4 --adjoint
ringweave gyroaverage plain.h5 out.h5 --field phi --domain=-1:1,-1:1 --rho 0.25 --estimate)",
     false},
    {"convert", "convert one kind of file into another", "IN OUT [OPTION...]",
     R"(Copies a map, a_lm or spectra between FITS, HDF5 and, for spectra, text; maps on grids of
latitude and longitude also from and to NetCDF-4 and CAR images (FITS), a_lm from and to .gfc files
and tables of real coefficients. Units, coordinates, order and precision are kept unless an option
changes them; U is written with the COSMO sign. History and keywords are kept too. NaN and
infinities are kept, with a warning that counts them.)",
     R"(ringweave convert sky.fits sky.h5
ringweave convert sky.h5 nested.fits --order nested --precision single
ringweave convert cl.txt cl.fits
ringweave convert camb_totCls.dat cl.txt --cl-kind dl
ringweave convert alm.fits smoothed.h5 --fwhm 30arcmin
ringweave convert era5.nc t2m.h5 --variable t2m
ringweave convert act_car.fits map.h5
ringweave convert alm.h5 coefficients.txt --normalisation 4pi)",
     false},
    {"compare", "find the differences of two maps, a_lm or spectra", "A B [OPTION...]",
     R"(Prints, for each column, the largest and the rms difference, also relative to B. Files are
equal (exit status 0) when max |a - b| / sigma(b) of every column is within --tolerance and
the same pixels are UNSEEN; a NaN or infinity in either file is a difference. For a spectrum XY of
two fields sigma(b) is the root of those of XX and YY, since XY may be rounding alone. The files
may be of different kinds.)",
     R"(ringweave compare ours.fits theirs.fits --tolerance 1e-10
ringweave compare sky.fits sky.h5
ringweave compare measured.txt expected.txt --cosmic-variance --lmax 1000)",
     false},
    {"model", "predict how a transform scales",
     "(--nside N | --grid GRID | --points N --lmax L) [OPTION...]",
     R"(Predicts, without running it, one transform on many numbers of ranks: seconds of Legendre
stage, ring FFT, exchange and copies to GPUs; balance of work and memory, bytes and messages
sent; the time of other variants of the exchange; from how many ranks on the exchange takes
longer than the computation, and where scaling ends and why. Ranks are planned as in a run, so
all but the seconds is exact; rates are those of --machine, which may be a described machine
(cpu_cluster, a100_cluster, h100_cluster).

Our exchange (only modes that are not negligible, folded) is compared with the dense one of
Szydlarski et al. (2012): by Eqs. 16 and 17 as printed, which treat a rank's whole volume as one
message, and corrected.)",
     R"(ringweave model --nside 4096 --lmax 8192
ringweave model --nside 2048 --lmax 4096 --ranks 64,128,256 --machine machine.json
ringweave model --nside 8192 --lmax 16384 --machine h100_cluster
ringweave model --points 50000000 --lmax 4095 --epsilon 1e-10 --fields TQU
ringweave model --lens --nside 2048 --lmax 4095 --fields TQU
ringweave model --nside 4096 --lmax 8192 --json model.json)",
     false},
    {"plot", "draw a map or spectra", "INPUT OUT [OPTION...]",
     R"(Draws one column of a map in Mollweide projection, seen from inside the sphere, or a patch of it
(--zoom), or spectra as l(l+1) C_l / 2 pi over l, into a .png, .pdf or .svg file. UNSEEN pixels are
grey; NaN and infinities too, with a warning. Of TE, EB and TB the absolute value is drawn, dotted
where they are negative. With --theory, one standard deviation sigma of the cosmic variance is
shaded, sigma^2 = 2 C_l^2 / ((2l + 1) fsky) for TT, EE and BB, and the panel below shows
(C_l - expected) / sigma.)",
     R"(ringweave plot sky.fits sky.png
ringweave plot sky.fits q.png --field Q --range=-1e-5:1e-5 --colours polar
ringweave plot measured.txt cl.pdf --theory examples/lcdm_cl.txt
ringweave plot dust.fits dust.png --scale log
ringweave plot frequency.fits map.png --scale asinh --linear-range 1e-4
ringweave plot sky.fits patch.pdf --zoom 209deg,-57deg,20deg
ringweave plot measured.txt te.svg --field TE)",
     false},
    {"calibrate", "measure this machine for the predictions", "[OPTION...]",
     R"(Times Legendre stage, ring FFT, exchange, ring convolutions and files on this machine, and
transforms and convolutions on the GPUs of the ranks if there are any (--backend), and writes the
costs into a machine file, from which --dry-run, --report and --method auto predict. Run it on the
ranks and threads you compute with, with nothing else running; it says first how long that takes,
minutes for nside 2048 on one core.
The exchange is only measured on two or more ranks.)",
     R"(ringweave calibrate
mpirun -n 2 ringweave calibrate --out machine.json
ringweave calibrate --nside 512 --out laptop.json
ringweave calibrate --combine machine.1.json machine.2.json machine.3.json --out machine.json
export RINGWEAVE_MACHINE=$PWD/machine.json)",
     false},
    {"split", "split a kernel between few degrees and a few degrees of arc",
     "(--fwhm ANGLE | --beam FILE) --lmax L --nside N [OPTION...]",
     R"(Writes a kernel as a part with degrees up to l_cut, for a_lm, and a compact part that ends at
theta_cut, for rings, within --error. Lists the smallest l_cut for every support and the
predicted seconds (--machine), chooses the fastest, and says whether it is faster than all
degrees of the a_lm or rings alone.)",
     R"(ringweave split --fwhm 7arcmin --cl examples/lcdm_cl.txt --lmax 4096 --nside 2048
ringweave split --beam beam.txt --lmax 2048 --nside 1024 --error 1e-4 --json split.json
ringweave split --fwhm 5arcmin --lmax 4096 --nside 2048 --input-cl examples/lcdm_cl.txt
ringweave split --fwhm 7arcmin --cl examples/lcdm_cl.txt --lmax 4096 --nside 2048 --ranks 64)",
     false},
    {"jobs", "write a batch job for Slurm", "KIND --nside N [OPTION...]",
     R"(Writes a job script, to stdout or --out: one of the files of jobs/ with your numbers, and the
time and memory predicted for them (--machine). --time and --mem include a margin for the error
of the prediction. It warns if more ranks do not help, or if a node's memory is too small.

cpu_node: one command on one node. cpu_nodes: on many. gpu_nodes: a rank for each GPU, on which
transforms run, or with --stage one stage of them.
realisations: a job array with one seed per task. time_limited: many maps in one job that stops
before its time limit, queues itself again and continues. scaling: jobs/scaling_study on 1, 2,
4, ... ranks.)",
     R"(ringweave jobs cpu_nodes --nodes 8 --tasks-per-node 2 --threads 32 --nside 8192 --out sky.sbatch
ringweave jobs gpu_nodes --nodes 2 --tasks-per-node 4 --nside 4096 --lmax 8192 --fields TQU
ringweave jobs realisations --nside 1024 --maps 500 --machine machine.json --out mc.sbatch
ringweave jobs time_limited --nside 2048 --maps 1000 --time 08:00:00 --account ab123)",
     false},
    {"info", "describe files and anything unusual in them", "FILE... [OPTION...]",
     R"(Prints what a file holds: a map, a_lm, spectra, a beam, a pixel window or weights, points, or
values at points. Of maps grid, order, precision, units, coordinates and, for each column, its
smallest and largest value, mean and standard deviation (by the area of pixels, unless it says that
the grid has no weights) and the numbers of UNSEEN and of NaN pixels; of points their number and
the range of theta; of values their mean and standard deviation. --provenance prints how a file was
made: every step of its history, and its keywords.)",
     R"(ringweave info sky.fits
ringweave info sky.h5 alm.h5 cl.txt
ringweave info --provenance smooth.fits)",
     false},
}};

const ManualPage& manual_page(std::string_view command) {
  const auto page = std::find_if(manual_pages.begin(), manual_pages.end(),
                                 [&](const ManualPage& p) { return p.command == command; });
  if (page == manual_pages.end())
    throw InternalError("no manual page for the command " + std::string(command));
  return *page;
}

}  // namespace ringweave::detail::inline app
