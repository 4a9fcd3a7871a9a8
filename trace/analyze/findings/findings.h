/* Rules over a finished report, of one host or of many, made here or read from JSON. A rule reads
 * only the report. Findings are in the report's arena. report/ prints the table of rules as
 * documentation.
 *
 * Claims: so that one cause is not counted twice, a device's window is divided into disjoint cells
 * (its idle time by cause, exposed copies by direction, exposed communication, compute), whose
 * lengths are exact. In the order of the table, every rule that fires takes the time that it
 * explains from its cells; later rules have only the rest. impact_ps is the time that a rule took
 * on the device that it names (the worst; of those within 1% of it the first), gross_ps the time
 * that it would have taken alone. A rule with less than 0.5% of the window left (or, below 3%, less
 * than a tenth of its own claim) is a symptom of the rules that took the rest: VP_EXPLAINED. If a
 * rule has only a part of a cell (the causes within one gap, one step), the same share of that part
 * counts as taken as of the whole cell. Cells are amounts, not places: a claim is never larger than
 * the rest of its cells, and of two rules on one cell the later takes between nothing and its true
 * amount. */
#ifndef VP_ANALYZE_FINDINGS_H
#define VP_ANALYZE_FINDINGS_H

#include "include/view_profile.h"

/* Fills r->findings (every rule, in rank order), all in the report's arena. Replaces previous
 * findings. A pure function of the rest of the report. */
int findings_make(vp_report *r);

/* True if one word of --fail-on matches a fired finding: "low", "medium" or "high" (at least that
 * severity), an id ("F1") or a name ("device-idle"), ignoring case. */
bool findings_word_matches(const vp_finding *f, const char *word);
/* True if the word is one of these. */
bool findings_word_known(const char *word);

struct fnd_run;

/* The limits of a rule; 0: the rule has no such limit. Whether a value equal to its limit fires
 * depends on the rule ("exceeds", "at least"). The first limit that a rule has is the threshold of
 * its evidence. */
typedef enum finding_limit {
    FND_SPREAD,     /* permille: deviation / mean */
    FND_SHARE,      /* permille of the evidence's denominator, or of op time or work */
    FND_TIME,       /* us */
    FND_FACTOR,     /* permille of the usual value: 2000 is twice as long */
    FND_WINDOW,     /* permille of the window, or of the device's memory */
    FND_SEVERE,     /* permille of the evidence's denominator: severity increases from there on */
    FND_PART,       /* permille of a value that only the rule's sentence names */
    FND_SPARED,     /* permille that is normal, and so not counted as lost (F1) or saved (F5) */
    FND_NUMBER,     /* of calls, kernels, steps, zones or runs */
    FND_SIZE,       /* KiB: smaller sizes are ignored */
    FND_DEVIATIONS, /* standard deviations from the usual value */
    FND_LIMITS
} finding_limit;

/* One row per rule, in the order of claim. Texts are Markdown-safe. */
typedef struct finding_rule {
    const char *id, *name, *title;
    const char *says;   /* the meaning of the finding, one or two sentences */
    const char *rule;   /* the condition as a formula in words */
    const char *source; /* of the threshold */
    /* Advice, in the words of the program's framework; native: for other programs. NULL: as for
     * XLA. */
    const char *advice_xla, *advice_pytorch, *advice_native;
    const char *advice_tensorflow; /* NULL: as for other programs */
    /* If all devices are CPUs, or there are none; NULL: as above. */
    const char *advice_cpu;
    const char *title_ops; /* instead of `title`: frameworks have ops, not zones */
    bool symptom;          /* ranks after causes: the time of steps or ops varies */
    bool startup; /* ranks after causes of its severity: about the capture, not about a step */
    bool at_most_medium;                     /* the time is lost, but what causes that is unknown */
    const char *caveat;                      /* possible errors of the rule; may be NULL */
    const char *metric, *unit, *denominator; /* for the evidence; denominator may be NULL */
    uint16_t limits[FND_LIMITS];             /* by finding_limit */
    unsigned needs; /* FND_NEED_…; if one is missing, the rule is "not evaluated" */
    void (*run)(struct fnd_run *);
} finding_rule;

extern const finding_rule findings_rules[]; /* ends with a NULL id */
/* The name of a bit of `needs`. Bits count from 0; NULL after the last. */
const char *findings_need(unsigned bit);
/* The threshold of the rule's evidence, in the unit of the evidence. */
double findings_threshold(const finding_rule *rule);

#endif
