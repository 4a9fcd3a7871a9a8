# bash completion of view_profile; made by view_profile help --print-completion bash
_view_profile() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    local command=serve words='' files='' i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in serve|list|top|report|findings|memory|compare|trend|export|merge|extract|record|capture|recover|mcp|watch|doctor|help) command=${COMP_WORDS[i]}; break ;; esac
    done
    case $command in
    serve)
        case $prev in
        --profile-dir) files=1 ;;
        --merge-ranks) words='yes no' ;;
        --ui) words='both perfetto tensorboard none' ;;
        --port) return ;;
        --host) return ;;
        --tensorboard-port) return ;;
        --perfetto-ui) return ;;
        --allow-host) return ;;
        --allow-origin) return ;;
        --token-file) files=1 ;;
        --listen) return ;;
        --path-prefix) return ;;
        --source-root) files=1 ;;
        --access-log) files=1 ;;
        --access-log-format) words='combined json' ;;
        --top) return ;;
        --chip) return ;;
        --peak-tflops) return ;;
        --peak-gbs) return ;;
        --max-memory) return ;;
        --color) words='auto always never' ;;
        *) words='--profile-dir --no-sign-request --merge-ranks --ui --port --bind-all --host --extract --list-only --no-browser --tensorboard-port --tensorboard-in-place --tensorboard-unguarded --perfetto-ui --offline --allow-host --allow-origin --token-file --listen --path-prefix --source-root --access-log --access-log-format --no-capture --no-sandbox --top --chip --peak-tflops --peak-gbs --max-memory --color --verbose --quiet --help --version ' ;;
        esac ;;
    list)
        case $prev in
        --profile-dir) files=1 ;;
        --merge-ranks) words='yes no' ;;
        --format) words='text json' ;;
        --output|-o) files=1 ;;
        --jobs|-j) return ;;
        --max-memory) return ;;
        --color) words='auto always never' ;;
        *) words='--profile-dir --no-sign-request --merge-ranks --format --output --jobs --max-memory --color --verbose --quiet --help --version ' ;;
        esac ;;
    top)
        case $prev in
        --profile-dir) files=1 ;;
        --merge-ranks) words='yes no' ;;
        --source-root) files=1 ;;
        --session) return ;;
        --top) return ;;
        --by) words='self total calls max' ;;
        --group) words='name category scope source module raw stack operator outermost' ;;
        --where) words='device host' ;;
        --device) return ;;
        --step) return ;;
        --steps-by) return ;;
        --host) return ;;
        --window) return ;;
        --format) words='text json csv' ;;
        --output|-o) files=1 ;;
        --unit) words='auto ns us ms s' ;;
        --jobs|-j) return ;;
        --max-memory) return ;;
        --color) words='auto always never' ;;
        *) words='--profile-dir --no-sign-request --merge-ranks --source-root --session --top --by --group --outermost --where --device --step --steps-by --host --window --format --output --unit --jobs --max-memory --color --verbose --quiet --help --version ' ;;
        esac ;;
    report)
        case $prev in
        --profile-dir) files=1 ;;
        --merge-ranks) words='yes no' ;;
        --source-root) files=1 ;;
        --session) return ;;
        --top) return ;;
        --by) words='self total calls max' ;;
        --group) words='name category scope source module raw stack operator outermost' ;;
        --device) return ;;
        --step) return ;;
        --steps-by) return ;;
        --chip) return ;;
        --peak-tflops) return ;;
        --peak-gbs) return ;;
        --params) return ;;
        --tokens) return ;;
        --host) return ;;
        --format) words='text json csv html' ;;
        --output|-o) files=1 ;;
        --unit) words='auto ns us ms s' ;;
        --jobs|-j) return ;;
        --max-memory) return ;;
        --color) words='auto always never' ;;
        *) words='--profile-dir --no-sign-request --merge-ranks --source-root --session --top --by --group --outermost --device --step --steps-by --chip --peak-tflops --peak-gbs --params --tokens --host --format --output --unit --jobs --max-memory --color --verbose --quiet --help --version ' ;;
        esac ;;
    findings)
        case $prev in
        --profile-dir) files=1 ;;
        --merge-ranks) words='yes no' ;;
        --session) return ;;
        --steps-by) return ;;
        --chip) return ;;
        --peak-tflops) return ;;
        --peak-gbs) return ;;
        --params) return ;;
        --tokens) return ;;
        --host) return ;;
        --format) words='text json csv html' ;;
        --output|-o) files=1 ;;
        --unit) words='auto ns us ms s' ;;
        --jobs|-j) return ;;
        --max-memory) return ;;
        --fail-on) return ;;
        --color) words='auto always never' ;;
        *) words='--profile-dir --no-sign-request --merge-ranks --session --steps-by --chip --peak-tflops --peak-gbs --params --tokens --host --format --output --unit --jobs --max-memory --fail-on --color --verbose --quiet --help --version ' ;;
        esac ;;
    memory)
        case $prev in
        --profile-dir) files=1 ;;
        --merge-ranks) words='yes no' ;;
        --source-root) files=1 ;;
        --session) return ;;
        --top) return ;;
        --host) return ;;
        --format) words='text json csv html' ;;
        --output|-o) files=1 ;;
        --unit) words='auto ns us ms s' ;;
        --jobs|-j) return ;;
        --max-memory) return ;;
        --color) words='auto always never' ;;
        *) words='--profile-dir --no-sign-request --merge-ranks --source-root --session --top --host --format --output --unit --jobs --max-memory --color --verbose --quiet --help --version ' ;;
        esac ;;
    compare)
        case $prev in
        --profile-dir) files=1 ;;
        --merge-ranks) words='yes no' ;;
        --top) return ;;
        --group) words='name category scope source module raw stack operator outermost' ;;
        --steps-by) return ;;
        --format) words='text json csv html md junit' ;;
        --output|-o) files=1 ;;
        --unit) words='auto ns us ms s' ;;
        --jobs|-j) return ;;
        --max-memory) return ;;
        --max-regression) return ;;
        --max-p90-regression) return ;;
        --fail-on-peak) return ;;
        --fail-on) return ;;
        --base) return ;;
        --new) return ;;
        --append) files=1 ;;
        --color) words='auto always never' ;;
        *) words='--profile-dir --no-sign-request --merge-ranks --top --group --outermost --steps-by --format --output --unit --jobs --max-memory --max-regression --max-p90-regression --fail-on-peak --fail-on --allow-unverified --base --new --append --color --verbose --quiet --help --version ' ;;
        esac ;;
    trend)
        case $prev in
        --profile-dir) files=1 ;;
        --merge-ranks) words='yes no' ;;
        --top) return ;;
        --format) words='text json html' ;;
        --output|-o) files=1 ;;
        --unit) words='auto ns us ms s' ;;
        --jobs|-j) return ;;
        --max-memory) return ;;
        --color) words='auto always never' ;;
        *) words='--profile-dir --no-sign-request --merge-ranks --top --format --output --unit --jobs --max-memory --color --verbose --quiet --help --version ' ;;
        esac ;;
    export)
        case $prev in
        --profile-dir) files=1 ;;
        --merge-ranks) words='yes no' ;;
        --session) return ;;
        --where) words='device host' ;;
        --device) return ;;
        --step) return ;;
        --steps-by) return ;;
        --host) return ;;
        --to) words='pftrace perfetto-json bundle folded speedscope' ;;
        --window) return ;;
        --max-events) return ;;
        --output|-o) files=1 ;;
        --max-memory) return ;;
        --color) words='auto always never' ;;
        *) words='--profile-dir --no-sign-request --merge-ranks --session --where --device --step --steps-by --host --to --window --max-events --output --max-memory --color --verbose --quiet --help --version ' ;;
        esac ;;
    merge)
        case $prev in
        --top) return ;;
        --by) words='self total calls max' ;;
        --format) words='text json csv html' ;;
        --output|-o) files=1 ;;
        --unit) words='auto ns us ms s' ;;
        --max-memory) return ;;
        --color) words='auto always never' ;;
        *) words='--no-sign-request --top --by --force --format --output --unit --max-memory --color --verbose --quiet --help --version ' ;;
        esac ;;
    extract)
        case $prev in
        --profile-dir) files=1 ;;
        --merge-ranks) words='yes no' ;;
        --out) files=1 ;;
        --max-memory) return ;;
        --color) words='auto always never' ;;
        *) words='--profile-dir --no-sign-request --merge-ranks --out --max-memory --color --verbose --quiet --help --version ' ;;
        esac ;;
    record)
        case $prev in
        --steps) return ;;
        --dir) files=1 ;;
        --ring) return ;;
        --color) words='auto always never' ;;
        *) words='--steps --dir --ring --gpu --functions --color --verbose --quiet --help --version ' ;;
        esac ;;
    capture)
        case $prev in
        --duration) return ;;
        --out|-o) files=1 ;;
        --name) return ;;
        --format) words='text json' ;;
        --top) return ;;
        --host-tracer) return ;;
        --device-tracer) return ;;
        --option) return ;;
        --hosts-file) files=1 ;;
        --parallel) return ;;
        --patience) return ;;
        --color) words='auto always never' ;;
        *) words='--no-sign-request --duration --out --name --format --top --host-tracer --device-tracer --python-tracer --option --hosts-file --parallel --patience --look --kineto --color --verbose --quiet --help --version ' ;;
        esac ;;
    recover)
        case $prev in
        --out|-o) files=1 ;;
        --color) words='auto always never' ;;
        *) words='--out --remove --color --verbose --quiet --help --version ' ;;
        esac ;;
    mcp)
        case $prev in
        --profile-dir) files=1 ;;
        --color) words='auto always never' ;;
        *) words='--profile-dir --allow-capture --color --verbose --quiet --help --version ' ;;
        esac ;;
    watch)
        case $prev in
        --format) words='text json' ;;
        --every) return ;;
        --keep) return ;;
        --out|-o) files=1 ;;
        --baseline) return ;;
        --max-regression) return ;;
        --max-p90-regression) return ;;
        --fail-on-peak) return ;;
        --fail-on) return ;;
        --on-regression) return ;;
        --on-regression-arg) return ;;
        --times) return ;;
        --hosts-file) files=1 ;;
        --parallel) return ;;
        --duration) return ;;
        --host-tracer) return ;;
        --device-tracer) return ;;
        --option) return ;;
        --patience) return ;;
        --color) words='auto always never' ;;
        *) words='--no-sign-request --format --every --keep --out --baseline --max-regression --max-p90-regression --fail-on-peak --fail-on --on-regression --on-regression-arg --times --hosts-file --parallel --duration --host-tracer --device-tracer --python-tracer --option --patience --color --verbose --quiet --help --version ' ;;
        esac ;;
    doctor)
        case $prev in
        --profile-dir) files=1 ;;
        --format) words='text json' ;;
        *) words='--profile-dir --no-sign-request --format --help --version ' ;;
        esac ;;
    help)
        case $prev in
        *) words='--help --version ' ;;
        esac ;;
    esac
    [[ $COMP_CWORD -eq 1 && $cur != -* ]] && words='serve list top report findings memory compare trend export merge extract record capture recover mcp watch doctor help '
    [[ $cur == -* || $prev == --* || $COMP_CWORD -eq 1 ]] &&
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    [[ $files || $cur != -* ]] && compopt -o default
}
complete -F _view_profile view_profile
