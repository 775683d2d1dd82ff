# SPDX-License-Identifier: GPL-2.0-only
"""Plugin of sos for memory allocation profiling: the table of the kernel and a report on it.

sos 4 runs it if the kernel has the table or if the program allocinfo is installed:

    sos report -o allocinfo -k allocinfo.recordings=/srv/allocinfo

Documentation/tools/allocinfo-fleet.rst names the files of a bundle.
"""

from sos.report.plugins import DebianPlugin, IndependentPlugin, Plugin


# IndependentPlugin would do, but sos 4.0 on Debian loads only plugins for Debian.
class Allocinfo(Plugin, IndependentPlugin, DebianPlugin):

    short_desc = "Memory that each call site of the kernel holds"
    plugin_name = "allocinfo"
    profiles = ("system", "memory", "performance", "debug")

    files = ("/proc/allocinfo",)
    commands = ("allocinfo",)
    option_list = [
        ("recordings", "files of allocinfo record, of which the bundle has a list", "fast",
         "/var/log/allocinfo*"),
        ("nodes", "memory by NUMA node, for which the kernel walks over all memory", "slow", False),
    ]

    def setup(self):
        # the report first: the other commands of sos allocate memory, too
        self.add_cmd_output([
            "allocinfo report --top 100",
            "allocinfo report --by func --top 100",
            "allocinfo report --by module --top 0",
            "allocinfo check",
            "sysctl vm.mem_profiling",
        ])
        self.add_copy_spec([
            "/proc/allocinfo",
            "/proc/sys/vm/mem_profiling",
            "/etc/default/allocinfod",
        ])
        # one file, which is in /proc if the kernel is locked down
        self.add_copy_spec([
            "/sys/kernel/debug/alloc_tags.ctx",
            "/proc/alloc_tags.ctx",
        ])
        if self.get_option("nodes"):
            self.add_copy_spec("/proc/allocinfo.nodes")
        recordings = self.get_option("recordings")
        if isinstance(recordings, str):
            self.add_cmd_output(f"ls -ldn --time-style=full-iso {recordings}",
                                suggest_filename="recordings")
