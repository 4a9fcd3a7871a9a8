"""What an export adds behind a file's own events: the tracks of our analysis, in processes that say so."""
import re

PROCESS = re.compile(r"analysis|.* \(analysis(, device clock)?\)")


def added_pids(events):
    return {e["pid"] for e in events if e.get("ph") == "M" and e.get("name") == "process_name"
            and PROCESS.fullmatch(str(e["args"]["name"]))}


def own(made):
    """The events of an exported JSON that are the file's."""
    events = made["traceEvents"]
    ours = added_pids(events)
    return [e for e in events if e.get("pid") not in ours] if ours else events
