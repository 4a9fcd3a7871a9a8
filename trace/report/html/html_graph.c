#include "trace/report/html/html_graph.h"

#include "trace/report/labels/numbers.h"

/* Each level is a row, operands above users; a level of many is several rows. In pixels, so that a
 * narrow window scrolls instead of shrinking the text. */
#define ACROSS 4
#define WIDTH 204
#define HEIGHT 42
#define GAP_X 12
#define GAP_Y 34
#define STEPS (2 * GRAPH_STEPS + 1)

typedef struct places {
    int x[GRAPH_NODES_MAX], y[GRAPH_NODES_MAX], width, height;
} places;

static int in_row(int nodes)
{
    return nodes < ACROSS ? nodes : ACROSS;
}

static void place_graph_nodes(places *at, const op_graph *g)
{
    int count[STEPS] = {0}, seen[STEPS] = {0}, top[STEPS], most = 1, y = 1;
    for (size_t i = 0; i < g->node_count; i++)
        count[g->nodes[i].step + GRAPH_STEPS]++;
    for (int s = 0; s < STEPS; s++) {
        top[s] = y;
        y += (count[s] + ACROSS - 1) / ACROSS * (HEIGHT + GAP_Y);
        most = count[s] > most ? count[s] : most;
    }
    at->width = in_row(most) * (WIDTH + GAP_X) - GAP_X + 2;
    at->height = y - GAP_Y + 1;
    for (size_t i = 0; i < g->node_count; i++) {
        int s = g->nodes[i].step + GRAPH_STEPS, k = seen[s]++, row = k / ACROSS;
        int indent = at->width - in_row(count[s] - row * ACROSS) * (WIDTH + GAP_X) + GAP_X;
        at->x[i] = indent / 2 + k % ACROSS * (WIDTH + GAP_X);
        at->y[i] = top[s] + row * (HEIGHT + GAP_Y);
    }
}

static void graph_put_edge(page *p, const places *at, size_t from, size_t to)
{
    int x0 = at->x[from] + WIDTH / 2, y0 = at->y[from] + HEIGHT;
    int x1 = at->x[to] + WIDTH / 2, y1 = at->y[to];
    vp_buf_printf(p->b, "<path d=\"M%d %dv8L%d %dv8\"/>", x0, y0, x1, y1 - 8);
}

/* The opcode, unless the name contains it. */
static void graph_put_node_figures(page *p, const graph_node *n)
{
    bool told = n->name && n->opcode && strstr(n->name, n->opcode);
    if (!told)
        html_text(p, n->opcode);
    if (n->calls) {
        html_puts(p, told ? "" : " · ");
        html_duration(p, n->self_ps, n->self_ps);
    }
    if (n->bytes >= 0) {
        html_puts(p, told && !n->calls ? "" : " · ");
        rep_put_bytes(p->b, n->bytes);
    }
}

static void graph_put_node_tip(page *p, const graph_node *n)
{
    const char *const lines[] = {n->name, n->shape, n->scope, n->source};
    html_puts(p, "<title>");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i]) {
            html_puts(p, i ? "\n" : "");
            html_text(p, lines[i]);
        }
    html_puts(p, "</title>");
}

/* Text is cut at its edge. */
static void put_node(page *p, const graph_node *n, int x, int y)
{
    bool link = n->step && n->op < p->r->op_count && html_open_op(p, &p->r->ops[n->op]);
    vp_buf_printf(p->b, "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">", x, y, WIDTH, HEIGHT);
    graph_put_node_tip(p, n);
    vp_buf_printf(p->b,
                  "<rect%s x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"4\"/>"
                  "<text x=\"8\" y=\"17\">",
                  !n->step    ? " class=\"own\""
                  : !n->calls ? " class=\"quiet\""
                              : "",
                  WIDTH - 1, HEIGHT - 1);
    html_text(p, n->name);
    html_puts(p, "</text><text class=\"low\" x=\"8\" y=\"34\">");
    graph_put_node_figures(p, n);
    html_puts(p, link ? "</text></svg></a>" : "</text></svg>");
}

static void graph_put_note(page *p, const op_graph *g)
{
    html_puts(p, "<p class=\"note\">");
    if (g->instructions > 1)
        vp_buf_printf(p->b, "The instruction with the most self time, out of %lld in this group. ",
                      (long long)g->instructions);
    html_puts(p, "Operands above, users below, up to two levels each, with self time on this "
                 "device and bytes of the result");
    if (g->operands_left || g->users_left)
        vp_buf_printf(p->b, "; not shown: %lld operands and %lld users",
                      (long long)g->operands_left, (long long)g->users_left);
    html_puts(p, ".</p>\n");
}

static void graph_put_hlo_line(page *p, const char *text)
{
    html_puts(p, "<code class=\"hlo\">");
    html_text(p, text);
    html_puts(p, "</code>\n");
}

static void graph_put_fusion_body(page *p, const op_graph *g)
{
    vp_buf_printf(p->b, "<details class=\"fold\"><summary>Fused instructions: %lld</summary>\n",
                  (long long)g->body_count + (long long)g->body_left);
    for (size_t i = 0; i < g->body_count; i++)
        graph_put_hlo_line(p, g->body[i]);
    if (g->body_left)
        vp_buf_printf(p->b, "<p class=\"note\">… %lld more</p>\n", (long long)g->body_left);
    html_puts(p, "</details>\n");
}

void html_graph(page *p, const op_graph *g)
{
    places at;
    if (!g)
        return;
    place_graph_nodes(&at, g);
    html_section(p, "graph", "In its program");
    graph_put_note(p, g);
    vp_buf_printf(p->b,
                  "<div class=\"scroll\"><svg class=\"graph\" width=\"%d\" height=\"%d\" "
                  "role=\"group\" aria-label=\"The instruction between its operands and users\">",
                  at.width, at.height);
    for (size_t from = 0; from < g->node_count; from++)
        for (size_t to = 0; to < g->node_count; to++)
            if (g->edges[from][to])
                graph_put_edge(p, &at, from, to);
    for (size_t i = 0; i < g->node_count; i++)
        put_node(p, &g->nodes[i], at.x[i], at.y[i]);
    html_puts(p, "</svg></div>\n");
    graph_put_hlo_line(p, g->text);
    if (g->body_count)
        graph_put_fusion_body(p, g);
    html_section_end(p);
}
