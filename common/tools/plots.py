"""plots.py - draws the pictures of the pages.

    course.py plots draw|check BUILD

`check` changes nothing and fails if a picture is stale. diagrams.py draws pictures of ideas; gnuplot draws programs'
output, with scripts in common/tools/plots and data from plot_data.py; terse.py shrinks them. Each names its gnuplot
version: `check` skips it with another one, which draws a little differently.
"""
import functools
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import diagrams
import plot_data
import terse
from plot_data import Failed, Programs
from timeline import timeline

SCRIPTS = "common/tools/plots"
ANIMATED = "05_flash_tiled_cpu/pages/pictures/tiles_flow.svg"


def pictures():
    def of(chapter, **more):
        for name, data in more.items():
            yield f"{chapter}/pages/pictures/{name}.svg", f"{chapter[:2]}_{name}.gp", data

    five, six, seven = "05_flash_tiled_cpu", "06_flash_tiled_cuda", "07_backward"
    d = plot_data
    yield "03_online_softmax/pictures/running_statistics.svg", "03_running_statistics.gp", d.running_statistics
    yield from of(five, extra_memory=d.extra_memory, accesses_against_m=d.accesses_against_m,
                  tile_order=d.tile_order, block_sparse=d.block_sparse, attention_map=d.attention_map,
                  percent_of_peak=d.percent_of_peak, roofline=d.roofline, time_against_n=d.time_against_n)
    yield from of(six, accesses=d.cuda_accesses, grid=d.grid, lanes=d.lanes, memories=d.memories, fragments=d.fragments,
                  fragments_k8=d.fragments_k8, swizzle=d.swizzle)
    if plot_data.measured.CURVE.exists():  # the front page shows it then
        yield from of(six, time_against_n=d.gpu_time_against_n)
    yield from of(seven, accesses_against_m=d.backward_against_m, loss_curves=d.loss_curves, products=d.products, dS=d.dS,
                  percent_of_peak=d.backward_percent_of_peak)
    # Only two scales, so that kernels can be compared.
    for chapter, kernel, products, shape in (
            (six, "wgmma", "S PV", ("--n-q", 128, "--n-k", 512, "--d", 128)),
            (six, "roles", "S PV", ("--n-q", 128, "--n-k", 512, "--d", 128)),
            (seven, "cuda_wgmma", "S,dP dV,dK dQ", ("--n-q", 256, "--n-k", 128, "--d", 64)),
            (seven, "cuda_roles", "S,dP dV,dK dQ", ("--n-q", 256, "--n-k", 128, "--d", 64))):
        yield (f"{chapter}/pages/pictures/timeline_{kernel.replace('cuda_', '')}.svg", "timeline.gp",
               functools.partial(timeline, chapter=chapter, kernel=kernel, products=products, shape=shape))
    for chapter in (six, seven):
        yield f"{chapter}/pages/pictures/gpu_ladder.svg", "gpu_ladder.gp", functools.partial(plot_data.gpu_ladder, chapter=chapter)


def dark(svg):
    return re.sub(r"(<svg[^>]*>)", rf"\1\n{diagrams.DARK}", svg, count=1)


def drawn(script, data):
    done = subprocess.run(["gnuplot", "-e", f"data = '{data}'", f"{SCRIPTS}/{script}"], capture_output=True, text=True,
                          encoding="utf-8", env={**os.environ, "LC_ALL": "C.UTF-8"}, check=False)
    if done.returncode:
        raise Failed(f"gnuplot {script}: ended with status {done.returncode}\n{done.stderr.strip()}")
    svg = re.sub(r"<title>.*</title>", "", done.stdout)
    return dark(terse.terse(re.sub(r"^<desc>.*GNUPLOT (.*\S) *</desc>$", r"<!-- gnuplot \1 -->", svg, flags=re.MULTILINE)))


def animated(programs):
    lines = []
    for step, *causal in (("fa1",), ("fa2",), ("masks", "--causal")):
        options = ("--step", step, *causal, "--n-q", 8, "--d", 4, "--br", 2, "--bc", 2)
        lines += [f"tile {step} {row[2]} {row[3]}" for row in plot_data.cells_of(programs.run("05_flash_tiled_cpu", *options, "--trace=csv"))
                  if row[4:7] == ["S", "0", "0"]]
        lines += [f"counted {step} {row[2]}" for row in programs.rows("05_flash_tiled_cpu", *options, "--traffic")]
    data = Path(programs.data, "tiles_flow")
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return dark(subprocess.run(["awk", "-v", "N=8", "-v", "d=4", "-v", "B=2", "-f", f"{SCRIPTS}/05_tiles_flow.awk", str(data)],
                               capture_output=True, text=True, encoding="utf-8", check=True).stdout)


def kept(svg, path, draw):
    """Is the picture unchanged? If not, `draw` replaces it."""
    path = Path(path)
    if path.exists() and path.read_text(encoding="utf-8") == svg:
        return True
    if draw:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(svg, encoding="utf-8")
        print(f"drew {path}")
        return True
    print(f"stale: {path} (make plots draws it)")
    return False


def all_pictures(build, draw, version):
    drew = {found for file in Path(".").glob("0*/**/*.svg")
            for found in re.findall(r"^<!-- (gnuplot .*) -->$", file.read_text(encoding="utf-8"), re.MULTILINE)}
    with tempfile.TemporaryDirectory() as data:
        programs = Programs(build, data)
        fine = kept(animated(programs), ANIMATED, draw)
        for path, picture in diagrams.PICTURES.items():
            fine &= kept(diagrams.svg(picture, programs), path, draw)
        if not draw and drew != {version}:
            print(f"skipped: the pictures were drawn by {', '.join(sorted(drew))}, and this is {version}")
            return fine

        def one(picture):
            path, script, function = picture
            folder = tempfile.mkdtemp(dir=data)  # one for each: pictures are drawn in parallel
            lines = function(Programs(build, folder))
            if not lines:
                return True  # no GPU has these figures
            file = Path(folder, "data")
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
            return kept(drawn(script, file), path, draw)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return all([fine, *pool.map(one, pictures())])


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in ("draw", "check"):
        print(f"plots: expected draw or check, and the folder of what is built, found '{' '.join(arguments)}'", file=sys.stderr)
        return 2
    try:
        version = subprocess.run(["gnuplot", "--version"], capture_output=True, text=True, check=True).stdout.strip()
        return 0 if all_pictures(arguments[1], arguments[0] == "draw", version) else 1
    except (Failed, OSError) as failed:
        print(f"plots: {failed}", file=sys.stderr)
        return 2
