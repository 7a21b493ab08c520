#!/usr/bin/env python3
"""Builds the container image of a folder with a Dockerfile, by docker or podman, and
has it run a tutorial. Where neither runs, it checks the file and carries out its steps
in a root of their own: this machine's system with a layer on top, which is gone
afterwards. That needs root on Linux, and is not the base image that the file names.

    image.py FOLDER           builds, or carries out
    image.py --check FOLDER   checks the file only
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

KNOWN = {"FROM", "ARG", "RUN", "COPY", "USER", "WORKDIR", "EXPOSE", "CMD", "ENV", "LABEL"}
TRY = "jupyter nbconvert --to notebook --execute --ExecutePreprocessor.kernel_name=gocuda --output-dir /tmp tutorials/04_inter_gpu_synchronization.ipynb"


def instructions(text):
    """The instructions of a Dockerfile: word and rest."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            yield word.upper(), rest.strip()


def faults(folder, files=True):
    """What is wrong with a folder's Dockerfile. Without files, what it copies need not be there."""
    found = []
    steps = list(instructions((folder / "Dockerfile").read_text()))
    if not steps or steps[0][0] != "FROM":
        return ["it does not begin with FROM"]
    for word, rest in steps:
        if word not in KNOWN:
            found.append(f"no instruction {word} is known here")
        if word == "FROM" and (":" not in rest or rest.endswith(":latest")):
            found.append(f"{rest} has no version")
        if word == "COPY":
            *sources, target = rest.split()
            if len(sources) > 1 and not target.endswith("/"):
                found.append(f"{target} must end with / to take several files")
            found += [f"there is no {s} to copy" for s in sources if files and not list(folder.glob(s))]
        if word == "RUN":
            shell = subprocess.run(["sh", "-n", "-c", rest], capture_output=True, text=True)
            if shell.returncode:
                found.append(f"the shell cannot read {rest!r}: {shell.stderr.strip()}")
            for command in re.split(r"&&|;", rest):
                words = shlex.split(command)
                if words[:2] == ["apt-get", "install"] and not {"--yes", "--no-install-recommends"} <= set(words):
                    found.append("apt-get install needs --yes and --no-install-recommends")
                if "pip" in words and "install" in words and "--no-cache-dir" not in words:
                    found.append("pip install needs --no-cache-dir")
            if "apt-get install" in rest and not ("apt-get update" in rest and "rm -rf /var/lib/apt/lists" in rest):
                found.append("apt-get's lists must be fetched and removed in the layer that installs")
        if word in ("CMD", "ENTRYPOINT"):
            try:
                json.loads(rest)
            except ValueError:
                found.append(f"{word} must be a list, so that signals reach the program")
    users = [rest for word, rest in steps if word == "USER"]
    if not users or users[-1] in ("root", "0"):
        found.append("it runs as root")
    if [word for word, _ in steps].count("CMD") != 1:
        found.append("it must have one CMD")
    return found


def timed(what, command, **options):
    begun = time.monotonic()
    done = subprocess.run(command, **options)
    print(f"{time.monotonic() - begun:.1f} s: {what}", flush=True)
    if done.returncode:
        sys.exit(f"failed: {what}")
    return done


def carry_out(folder):
    """Does a Dockerfile's steps. This process has mounts of its own."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="image-"))
    subprocess.run(["mount", "-t", "tmpfs", "none", top], check=True)
    root = top / "root"
    for name in ["upper", "work", "root"]:
        (top / name).mkdir()
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", f"lowerdir=/,upperdir={top}/upper,workdir={top}/work", root], check=True)
    for name in ["dev", "proc", "sys"]:
        subprocess.run(["mount", "--rbind", f"/{name}", root / name], check=True)
    for name in ["tmp", "dev/shm"]:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "none", root / name], check=True)
    user, workdir = "root", "/"
    environment = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "SSL_")) or k.lower().endswith("_proxy")}
    environment |= {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}

    def within(command):
        home = "/root" if user == "root" else f"/home/{user}"
        return ["chroot", f"--userspec={user}:{user}", root, "env", "-i", *(f"{k}={v}" for k, v in environment.items()),
                f"HOME={home}", "sh", "-c", f"cd {shlex.quote(workdir)} && {command}"]

    for word, rest in instructions((folder / "Dockerfile").read_text()):
        match word:
            case "FROM":
                print(f"on this machine's system, in place of {rest}")
            case "ARG" | "ENV":
                name, _, value = rest.partition("=")
                environment[name] = value.strip('"')
            case "RUN":
                timed("RUN " + rest[:70], within(rest))
            case "COPY":
                *sources, target = rest.split()
                (root / target.lstrip("/")).mkdir(parents=True, exist_ok=True)
                for s in sources:
                    for file in folder.glob(s):
                        shutil.copy(file, root / target.lstrip("/"))
            case "USER":
                user = rest
            case "WORKDIR":
                workdir = rest
                timed("WORKDIR " + rest, within("true"))
            case "CMD":
                command = json.loads(rest)
    timed("a tutorial by nbconvert", within("GOCUDA_BACKEND=sim " + TRY))
    # The command serves, and ends when it is told to.
    port = "8899"
    server = subprocess.Popen(within("exec " + shlex.join([*command, f"--ServerApp.port={port}", "--ServerApp.token=t"])), stderr=subprocess.DEVNULL)
    begun = time.monotonic()
    try:
        ask = ["curl", "--silent", "--fail", f"http://127.0.0.1:{port}/api/kernelspecs?token=t"]
        while True:
            answer = subprocess.run(ask, capture_output=True, text=True)
            if answer.returncode == 0 and '"gocuda"' in answer.stdout:
                break
            if server.poll() is not None or time.monotonic() - begun > 120:
                sys.exit("JupyterLab did not come up with the kernel gocuda")
            time.sleep(0.2)
        print(f"{time.monotonic() - begun:.1f} s: {shlex.join(command)} serves, and has the kernel")
    finally:
        server.terminate()
        server.wait(30)


def main():
    *options, folder = sys.argv[1:]
    folder = pathlib.Path(folder).resolve()
    if options == ["--inside"]:
        return carry_out(folder)
    if found := faults(folder, files=options != ["--check"]):
        sys.exit("\n".join(found))
    print("the file is in order")
    if options == ["--check"]:
        return
    for tool in ["docker", "podman"]:
        if shutil.which(tool) and subprocess.run([tool, "info"], capture_output=True).returncode == 0:
            timed(f"{tool} build", [tool, "build", "--tag", "gocuda-jupyterlab", folder])
            timed("a tutorial by nbconvert", [tool, "run", "--rm", "--env", "GOCUDA_BACKEND=sim", "gocuda-jupyterlab", "sh", "-c", TRY])
            print(f"to start it: {tool} run --rm --publish 8888:8888 gocuda-jupyterlab")
            return
    print("neither docker nor podman runs here: the steps are carried out without them")
    if sys.platform != "linux" or os.geteuid() != 0:
        sys.exit("that needs root on Linux")
    done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, __file__, "--inside", folder])
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
