"""hostile_tar.py XPLANE TAR: an archive whose members try to leave the directory."""
import io
import sys
import tarfile

data = open(sys.argv[1], "rb").read()
with tarfile.open(sys.argv[2], "w") as tar:
    def add(name, kind=tarfile.REGTYPE, link=""):
        info = tarfile.TarInfo(name)
        info.type, info.linkname, info.mode = kind, link, 0o4777
        info.size = len(data) if kind == tarfile.REGTYPE else 0
        info.mtime = 1700000000
        tar.addfile(info, io.BytesIO(data))
    add("../evil.xplane.pb")
    add("/tmp/vp_cli_evil.xplane.pb")
    add("a/../../evil2.xplane.pb")
    add("link", tarfile.SYMTYPE, "/tmp")
    add("link/vp_cli_evil2.xplane.pb")
    add("hard.xplane.pb", tarfile.LNKTYPE, "/etc/hostname")
    add("fifo.xplane.pb", tarfile.FIFOTYPE)
    add("device.xplane.pb", tarfile.CHRTYPE)
    add("plugins/profile/2026_01_01_00_00_00/good.xplane.pb")
