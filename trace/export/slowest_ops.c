/* The query of the tab "Slowest ops" that a link opens in Perfetto: the table of `top`, for the
 * events that the UI has loaded. It uses only features of both v52 and v58
 * (docs/reference/perfetto.md#importer-of-v52): REGEXP_EXTRACT returns one group and has no lazy
 * repetition, and there is no replace function. */
#include "trace/export/link.h"

/* h: tracks of the file's threads, without analysis tracks; Kineto gives all GPU processes the
 * program's name. d: those of devices, by their thread: XLA's op line, XLA's GPU streams ("Stream
 * #118(Compute)", docs/reference/xprof.md#line-names), Kineto's ("stream 7"). o: their ops, without
 * the annotations that Kineto puts on streams; without a device, the slices with an hlo_op, which
 * XLA:CPU writes on host threads (docs/reference/jax-cpu.md#planes-and-threads). n, v, g: the
 * groups of trace/analyze/device/normalize.c; v removes numbers and decorations until none is left,
 * g is the last of them. Self time is defined as in Perfetto's own library
 * (docs/reference/perfetto.md#sql). The op is the last column, since names of kernels are longer
 * than the tab is wide. */
const char ex_slowest_ops[] =
    "INCLUDE PERFETTO MODULE slices.self_dur; "
    "WITH RECURSIVE h AS (SELECT k.id AS track_id, t.name AS t, CASE WHEN p.name GLOB '*device:*' "
    "THEN p.name ELSE p.name || ' ' || p.pid END AS device "
    "FROM thread_track k JOIN thread t USING (utid) LEFT JOIN process p USING (upid) "
    "WHERE IFNULL(p.name, '') NOT GLOB '*(analysis*'), "
    "d AS (SELECT * FROM h WHERE t GLOB '*XLA Ops*' AND t NOT GLOB '*Async*' "
    "OR t GLOB '*Stream #*' OR t GLOB '*stream [0-9]*'), "
    "o AS (SELECT s.id, s.name, s.dur, device FROM slice s JOIN d USING (track_id) "
    "WHERE s.dur >= 0 AND IFNULL(s.category, '') <> 'gpu_user_annotation' "
    "UNION ALL SELECT s.id, s.name, s.dur, device FROM slice s JOIN h USING (track_id) "
    "WHERE s.dur >= 0 AND NOT EXISTS (SELECT 1 FROM d) "
    "AND EXTRACT_ARG(s.arg_set_id, 'args.hlo_op') IS NOT NULL), "
    "n(name, b) AS (SELECT DISTINCT name, CASE WHEN name GLOB 'void *' THEN substr(name, 6) "
    "WHEN name GLOB '* = *' THEN ltrim(substr(name, 1, instr(name, ' = ') - 1), '%') "
    "ELSE ltrim(name, '%') END FROM o), "
    "v(name, b) AS (SELECT name, COALESCE(REGEXP_EXTRACT(b, '^([^<]*[A-Za-z0-9_])<') || '<' || "
    "IFNULL(REGEXP_EXTRACT(substr(b, instr(b, '<')), "
    "'[A-Za-z0-9_]+::([A-Za-z0-9_]+)[^A-Za-z0-9_:)]'), '$') || '>', "
    "REGEXP_EXTRACT(b, '^([^(]*[A-Za-z0-9_])[(]'), b) FROM n "
    "UNION SELECT name, CASE WHEN b GLOB '?*.kd' THEN substr(b, 1, length(b) - 3) "
    "WHEN b GLOB '?*.clone' THEN substr(b, 1, length(b) - 6) "
    "WHEN REGEXP_EXTRACT(b, '.([.]remat[0-9]*)$') IS NOT NULL "
    "THEN substr(b, 1, length(rtrim(b, '0123456789')) - 6) "
    "WHEN REGEXP_EXTRACT(b, '.([.][0-9]+)$') IS NOT NULL "
    "THEN substr(b, 1, length(rtrim(b, '0123456789')) - 1) "
    "WHEN REGEXP_EXTRACT(b, '(_[0-9]+)$') IS NOT NULL "
    "AND (b GLOB 'wrapped_*_[0-9]*' OR b GLOB '*_wrapped_*_[0-9]*' OR REGEXP_EXTRACT(b, '(fusion|"
    "dot|convert|reduce|transpose|copy|broadcast|scatter|gather|concatenate|slice)_[0-9]+$') "
    "IS NOT NULL) THEN substr(b, 1, length(rtrim(b, '0123456789')) - 1) ELSE b END FROM v), "
    "g AS (SELECT name, b AS op, MIN(length(b)) FROM v GROUP BY name) "
    "SELECT SUM(self_dur) AS self_ns, ROUND(100.0 * SUM(self_dur) / SUM(SUM(self_dur)) "
    "OVER (PARTITION BY device), 1) AS percent, COUNT(*) AS calls, SUM(dur) AS total_ns, "
    "MAX(dur) AS max_ns, device, op FROM o JOIN g USING (name) JOIN slice_self_dur USING (id) "
    "GROUP BY device, op ORDER BY self_ns DESC LIMIT 100";
