"""Puts a Markdown file on the pull request of this job: python3 comment.py KEY FILE. A comment that this made before under the same key is
replaced. What GitHub says no to is a warning: the gate is another step."""
import json
import os
import sys
import urllib.error
import urllib.request

MOST = 60_000  # GitHub takes 65,536 characters


def ask(method, url, body=None):
    request = urllib.request.Request(url, method=method, data=body and json.dumps(body).encode(), headers={
        "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}", "Accept": "application/vnd.github+json", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def earlier(comments, mark):
    """The address of our comment, on whichever page it is; None: there is none."""
    for page in range(1, 100):
        found = ask("GET", f"{comments}?per_page=100&page={page}")
        for comment in found:
            if (comment.get("body") or "").startswith(mark):
                return comment["url"]
        if len(found) < 100:
            return None
    return None


def put(comments, mine, body):
    try:
        return ask("PATCH" if mine else "POST", mine or comments, body)
    except urllib.error.HTTPError as e:
        if not mine or e.code not in (403, 404):
            raise
        return ask("POST", comments, body)  # somebody else's, under our mark, or gone meanwhile


def main(key, path):
    with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as f:
        number = int(json.load(f)["pull_request"]["number"])
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if len(text) > MOST:
        text = text[:MOST].rpartition("\n")[0] + "\n\n… the job's summary has the rest"
    mark = f"<!-- view_profile {key} -->"
    comments = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues/{number}/comments"
    try:
        put(comments, earlier(comments, mark), {"body": f"{mark}\n{text}"})
    except (urllib.error.URLError, TimeoutError) as e:
        print(f"::warning title=view_profile::no comment on the pull request: {e}")


main(*sys.argv[1:])
