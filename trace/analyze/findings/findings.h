/* Rules over a finished report, of one host or of many, made here or read from JSON. A rule reads
 * only the report. Findings are in the report's arena. report/ prints the table of rules as
 * documentation.
 *
 * Claims: so that one cause is not counted twice, a device's window is cut into disjoint cells (its
 * idle time by cause, exposed copies by direction, exposed communication, compute), whose lengths
 * the report knows exactly. In the order of the table every rule that fires takes the time it
 * explains from its cells; a later rule has only what is left. impact_ps is what a rule took on the
 * device that it names (the worst; of those within 1 % of it the first), gross_ps what it would
 * have taken alone. A rule with less than 0.5 % of the window left (or, below 3 %, less than a
 * tenth of its own claim) is a symptom of those who took the rest: VP_EXPLAINED. A rule that knows
 * only a part of a cell (the causes within one gap, one step) counts the same share of that part as
 * taken as of the whole cell. Cells are amounts, not places: a claim is never larger than what is
 * there, and of two rules on one cell the later has at least nothing and at most the truth. */
#ifndef VP_ANALYZE_FINDINGS_H
#define VP_ANALYZE_FINDINGS_H

#include "include/view_profile.h"

/* Fills r->findings (every rule, in rank order), all of it in the report's arena. Replaces what was
 * there. A pure function of the rest of the report. */
int findings_make(vp_report *r);

/* Whether a fired finding is named by one word of --fail-on: "low", "medium" or "high" (that severe
 * or more), an id ("F1") or a name ("device-idle"), in any case. */
bool findings_word_matches(const vp_finding *f, const char *word);
/* Whether the word is one of these. */
bool findings_word_known(const char *word);

struct fnd_run;

/* The limits at which a rule's judgement turns; 0: the rule has no such limit. Whether a value that
 * equals its limit fires is up to the rule ("exceeds", "at least"). The first limit that a rule has
 * is the threshold of its evidence. */
typedef enum finding_limit {
    FND_SPREAD,     /* permille: deviation / mean */
    FND_SHARE,      /* permille of the evidence's denominator, or of op time or work */
    FND_TIME,       /* us */
    FND_FACTOR,     /* permille of what is usual: 2000 is twice as long */
    FND_WINDOW,     /* permille of the window, or of the device's memory */
    FND_SEVERE,     /* permille of the evidence's denominator: from there it is more severe */
    FND_PART,       /* permille of what only the rule's sentence says */
    FND_SPARED,     /* permille that is normal, and so not counted as lost (F1) or won (F5) */
    FND_NUMBER,     /* of calls, kernels, steps, zones or runs */
    FND_SIZE,       /* KiB: what is smaller does not count */
    FND_DEVIATIONS, /* standard deviations from the usual */
    FND_LIMITS
} finding_limit;

/* One row per rule, in the order of claim. Texts are Markdown-safe. */
typedef struct finding_rule {
    const char *id, *name, *title;
    const char *says;   /* what it means when it fires, one or two sentences */
    const char *rule;   /* when it fires, as a formula in words */
    const char *source; /* of the threshold */
    /* What to do, in the words of the program's framework; native: of any other program. NULL: as
     * for XLA. */
    const char *advice_xla, *advice_pytorch, *advice_native;
    const char *advice_tensorflow; /* NULL: as for any other program */
    /* If all devices are CPUs, or there is none; NULL: as above. */
    const char *advice_cpu;
    const char *title_ops; /* instead of `title`: frameworks have ops, no zones */
    bool symptom;          /* ranks after causes: the time of steps or ops varies */
    bool startup; /* ranks after causes of its severity: about the capture, not about a step */
    bool at_most_medium;                     /* the time is lost, but what causes that is unknown */
    const char *caveat;                      /* what may be wrong with it; may be NULL */
    const char *metric, *unit, *denominator; /* of the evidence; denominator may be NULL */
    uint16_t limits[FND_LIMITS];             /* by finding_limit */
    unsigned needs; /* FND_NEED_…; what is missing makes it "not evaluated" */
    void (*run)(struct fnd_run *);
} finding_rule;

extern const finding_rule findings_rules[]; /* ends with a NULL id */
/* What a bit of `needs` stands for, in words. Bits count from 0; NULL behind the last. */
const char *findings_need(unsigned bit);
/* The threshold of the rule's evidence, in the unit of the evidence. */
double findings_threshold(const finding_rule *rule);

#endif
