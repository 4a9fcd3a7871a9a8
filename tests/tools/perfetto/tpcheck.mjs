#!/usr/bin/env node
// usage: tpcheck.mjs --ui DIR [--tracks] [--sql SQL] FILE...     a line of JSON each; exit 1 when any is not taken whole
// `bad` has the stats of severity error, data_loss or notice; `fatal` says why none of it was taken. With --tracks,
// `tracks` has a row for each that holds slices: its name, its process and how many of which sum. With --sql, `rows` has
// what it gives: a file more costs a tenth of what a process more does.
import { json, TraceProcessor } from "./tp.mjs";

const BAD = `select name, sum(value) as n from stats
  where severity in ('error', 'data_loss', 'notice') and value > 0 group by 1`;
const COUNTS = `select (select count(*) from slice) slices, (select count(*) from slice where dur = -1) unfinished,
  (select coalesce(sum(dur), 0) from slice where dur > 0) dur_ns, (select count(*) from track) tracks,
  (select count(*) from process where pid <> 0) processes, (select count(*) from counter) counters,
  (select count(*) from flow) flows`;
// A track lies in that process, or below the track of it, that its nearest parent says.
const TRACKS = `with recursive
  up(id, at, name, depth) as (select id, id, name, 0 from track
    union all select up.id, track.parent_id, up.name, depth + 1 from up join track on track.id = up.at
    where track.parent_id is not null),
  owner as (select up.id, up.depth, coalesce(t.upid, p.upid) upid, utid from up
    left join thread_track k on k.id = up.at left join thread t using (utid) left join process_track p on p.id = up.at
    where coalesce(t.upid, p.upid, utid) is not null),
  nearest as (select id, upid, utid, min(depth) from owner group by id),
  top as (select id, at, max(depth) from up group by id)
  select s.track_id id, count(*) slices, sum(dur) dur_ns, sum(dur < 0) unfinished,
    track.name name, thread.name thread, thread.tid tid, process.name process, process.pid pid, root.name top
  from slice s join track on track.id = s.track_id left join nearest on nearest.id = s.track_id
  left join thread using (utid) left join process on process.upid = nearest.upid
  join top on top.id = s.track_id join track root on root.id = top.at group by 1`;

async function check(file, { ui, tracks, sql }) {
  const tp = await TraceProcessor.start({ ui });
  try {
    await tp.load(file);
  } catch (error) {
    return { trace: file, fatal: error.message, bad: {} };
  }
  const bad = Object.fromEntries(tp.objects(BAD).map((row) => [row.name, row.n]));
  const more = { ...(tracks && { tracks: tp.objects(TRACKS) }), ...(sql && { rows: tp.objects(sql) }) };
  return { trace: file, bytes: tp.bytes, ...tp.objects(COUNTS)[0], bad, ...more };
}

const words = process.argv.slice(2), files = [], asked = { tracks: false };
while (words.length) {
  const word = words.shift();
  if (word === "--ui") asked.ui = words.shift();
  else if (word === "--sql") asked.sql = words.shift();
  else if (word === "--tracks") asked.tracks = true;
  else files.push(word);
}
if (!asked.ui || !files.length) {
  console.error("usage: tpcheck.mjs --ui DIR [--tracks] [--sql SQL] FILE...");
  process.exit(2);
}
for (const file of files) {
  const row = await check(file, asked);
  if (row.fatal || Object.keys(row.bad).length) process.exitCode = 1;
  console.log(json(row));
}
