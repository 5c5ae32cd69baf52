# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that faults are injected into, and their inputs, which the program itself makes."""
import dataclasses
import pathlib
import struct

# The content of an output that exists before the run.
OLD = b"the old output\n"


@dataclasses.dataclass(frozen=True)
class Case:
    """A command line, whose outputs are named out* or report*.

    replaces     outputs exist before the run, and --overwrite is given
    one_by_one   every output appears as soon as it is done, not all together at the end
    """
    name: str
    words: str
    replaces: bool = True
    one_by_one: bool = False

    def arguments(self):
        return self.words.split() + (["--overwrite"] if self.replaces else [])

    def outputs(self):
        words = self.words.replace("{seed}", "1") + " " + self.words.replace("{seed}", "2")
        return sorted({word for word in words.split() if word.startswith(("out", "report"))})


CASES = [
    Case("convert_h5", "convert sky.h5 out.h5"),
    Case("convert_new_h5", "convert sky.h5 out.h5", replaces=False),
    Case("convert_fits_to_h5", "convert sky.fits out.h5"),
    Case("convert_fits", "convert sky.h5 out.fits"),
    Case("convert_new_fits", "convert sky.fits out.fits", replaces=False),
    Case("convert_gz", "convert sky.h5 out.fits.gz"),
    Case("convert_nc", "convert sky.nc out.nc"),
    Case("smooth_h5", "smooth sky.h5 out.h5 --fwhm 20deg --iter 0"),
    Case("smooth_fits", "smooth sky.fits out.fits --config smooth.toml"),
    Case("synthesize_h5", "synthesize --cl cl.txt --seed 1 --nside 8 out.h5 --save-alm out_alm.h5"),
    Case("synthesize_fits", "synthesize --alm alm.fits --nside 8 out.fits --report report.json"),
    Case("synthesize_many", "synthesize --cl cl.txt --seed 1..2 --nside 8 out_{seed}.h5", one_by_one=True),
    Case("analyze_txt", "analyze sky.h5 --iter 0 --cl out.txt --report report.json"),
    Case("analyze_fits", "analyze sky.fits --iter 0 --cl out.fits --alm out_alm.fits"),
    Case("analyze_h5", "analyze sky.h5 --iter 0 --cl out.h5 --alm out_alm.h5"),
    Case("alm_h5", "alm alm.h5 out.h5 --lmax 10"),
    Case("alm_fits", "alm alm.fits out.fits --rotate G:E"),
    Case("split", "split --fwhm 10deg --lmax 20 --nside 8 --json out.json"),
    Case("gyroaverage", "gyroaverage plane.h5 out.h5 --rho 20,40"),
    Case("interpolate_txt", "interpolate --alm alm.h5 --points points.txt out.txt"),
    Case("interpolate_h5", "interpolate sky.fits --points points.txt out.h5 --iter 0"),
    Case("lens", "lens --cl lens_cl.txt --seed 1 --lmax 20 --nside 8 out.h5 --save-potential out_phi.fits"),
    Case("plot", "plot sky.h5 out.png --width 300"),
    Case("jobs", "jobs cpu_node --nside 64", replaces=False),
    Case("model", "model --nside 64 --ranks 1,2 --json out.json"),
    Case("info_h5", "info sky.h5 alm.h5", replaces=False),
    Case("info_fits", "info sky.fits cl.txt", replaces=False),
]

# A few that together reach every kind of file.
SHORT = ("convert_h5", "convert_new_fits", "convert_gz", "smooth_fits", "synthesize_h5", "analyze_txt", "info_h5")


def make_inputs(folder, run):
    """Writes the inputs of all cases; `run` runs the program with these arguments in the folder."""
    folder = pathlib.Path(folder)
    degrees = range(24)
    (folder / "cl.txt").write_text("# l TT EE BB TE\n" + "".join(f"{l} {1 / (l + 1)} {0.1 / (l + 1)} 0 0\n"
                                                                for l in degrees))
    (folder / "lens_cl.txt").write_text("# l TT EE BB TE PP TP EP\n" + "".join(
        f"{l} {1 / (l + 1)} {0.1 / (l + 1)} 0 0 {1e-4 / (l + 1) ** 4} 0 0\n" for l in degrees))
    (folder / "points.txt").write_text("# theta phi\n" + "".join(f"{0.1 + 0.09 * i} {0.2 * i}\n" for i in range(30)))
    (folder / "smooth.toml").write_text('fwhm = "20deg"\niter = 0\n')
    for kind in ("h5", "fits"):
        run("synthesize", "--cl", "cl.txt", "--seed", "1", "--nside", "8", f"sky.{kind}", "--save-alm", f"alm.{kind}")
    run("synthesize", "--cl", "cl.txt", "--seed", "1", "--grid", "clenshaw:17", "--fields", "T", "sky.nc")
    # Fields in the plane ascend along y, latitudes descend.
    latitudes = [90 - 11.25 * i for i in range(17)]
    descending, ascending = (struct.pack("<17d", *values) for values in (latitudes, latitudes[::-1]))
    content = (folder / "sky.nc").read_bytes()
    if content.count(descending) != 1:
        raise RuntimeError("sky.nc: its latitudes are not found")
    (folder / "plane.h5").write_bytes(content.replace(descending, ascending))
