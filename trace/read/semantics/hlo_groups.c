#include "trace/read/semantics/hlo_groups.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/read/semantics/hlo_fields.h"

typedef struct id_list {
    int64_t *v; /* VP_GROUP_DEVICES_MAX of them */
    uint32_t n;
    bool full; /* there were more ids */
} id_list;

static void add_id(id_list *all, uint64_t id)
{
    all->full = all->full || all->n == VP_GROUP_DEVICES_MAX || id > INT64_MAX;
    if (!all->full)
        all->v[all->n++] = (int64_t)id;
}

/* Reads the numbers of a repeated field, packed or not. */
static void read_ids(id_list *all, vp_str message, uint32_t field)
{
    vp_pb r = vp_pb_of(message);
    vp_pb_field f;
    all->n = 0;
    while (vp_pb_next(&r, &f) > 0) {
        uint64_t id;
        if (f.number != field)
            continue;
        if (f.wire == VP_PB_VARINT)
            add_id(all, f.u);
        vp_pb packed = vp_pb_of(f.data);
        while (f.wire == VP_PB_LEN && !all->full && vp_pb_varint(&packed, &id))
            add_id(all, id);
    }
}

static int put_group_ids(vp_buf *b, const id_list *all)
{
    for (uint32_t i = 0; i < all->n; i++)
        VP_TRY(vp_buf_printf(b, "%s%lld", i ? "," : "", (long long)all->v[i]));
    return 0;
}

/* Appends the ReplicaGroup messages in `field` of a message. */
static int put_replica_groups(vp_buf *b, vp_str message, uint32_t field, id_list *all)
{
    const char *open = "replica_groups={{";
    vp_pb r = vp_pb_of(message);
    vp_pb_field f;
    uint64_t sum = 0;
    while (!all->full && vp_pb_next(&r, &f) > 0) {
        if (f.number != field || f.wire != VP_PB_LEN)
            continue;
        read_ids(all, f.data, REPLICA_GROUP_REPLICA_IDS);
        sum += all->n;
        all->full = all->full || sum > VP_GROUP_DEVICES_MAX;
        VP_TRY(vp_buf_puts(b, open));
        VP_TRY(put_group_ids(b, all));
        VP_TRY(vp_buf_putc(b, '}'));
        open = ",{";
    }
    return *open == ',' ? vp_buf_putc(b, '}') : 0;
}

/* The last varint of the field, or 0. */
static uint64_t last_number_field(vp_str message, uint32_t field)
{
    vp_pb r = vp_pb_of(message);
    vp_pb_field f;
    uint64_t v = 0;
    while (vp_pb_next(&r, &f) > 0)
        if (f.number == field && f.wire == VP_PB_VARINT)
            v = f.u;
    return v;
}

static int put_box(vp_buf *b, vp_str box, id_list *all)
{
    VP_TRY(vp_buf_printf(
        b, "replica_groups=[%llu,%llu]<=[",
        (unsigned long long)last_number_field(box, IOTA_REPLICA_GROUP_LIST_NUM_REPLICA_GROUPS),
        (unsigned long long)last_number_field(box, IOTA_REPLICA_GROUP_LIST_NUM_DEVICES_PER_GROUP)));
    read_ids(all, box, IOTA_REPLICA_GROUP_LIST_IOTA_RESHAPE_DIMS);
    VP_TRY(put_group_ids(b, all));
    read_ids(all, box, IOTA_REPLICA_GROUP_LIST_IOTA_TRANSPOSE_PERM);
    VP_TRY(vp_buf_puts(b, all->n ? "]T(" : "]"));
    VP_TRY(put_group_ids(b, all));
    return all->n ? vp_buf_putc(b, ')') : 0;
}

static int put_device_list(vp_buf *b, vp_str list, id_list *all)
{
    vp_pb r = vp_pb_of(list);
    vp_pb_field f;
    while (vp_pb_next(&r, &f) > 0)
        if (f.number == COLLECTIVE_DEVICE_LIST_IOTA_REPLICA_GROUP_LIST && f.wire == VP_PB_LEN)
            return put_box(b, f.data, all);
    return put_replica_groups(b, list, COLLECTIVE_DEVICE_LIST_REPLICA_GROUPS, all);
}

static int put_either(vp_buf *b, vp_str instruction, id_list *all)
{
    vp_pb r = vp_pb_of(instruction);
    vp_pb_field f;
    while (vp_pb_next(&r, &f) > 0)
        if (f.number == HLO_INSTRUCTION_COLLECTIVE_DEVICE_LIST && f.wire == VP_PB_LEN)
            return put_device_list(b, f.data, all);
    return put_replica_groups(b, instruction, HLO_INSTRUCTION_REPLICA_GROUPS, all);
}

static int new_list(id_list *all)
{
    *all = (id_list){vp_calloc(VP_GROUP_DEVICES_MAX, sizeof *all->v), 0, false};
    return all->v ? 0 : vp_no_memory();
}

int hlo_put_groups(vp_buf *b, vp_str instruction)
{
    id_list all;
    size_t before = b->n;
    VP_TRY(new_list(&all));
    int rc = put_either(b, instruction, &all);
    vp_free(all.v);
    if (rc < 0)
        return rc;
    if (all.full)
        b->n = before;
    if (b->n == before)
        return 0;
    if (last_number_field(instruction, HLO_INSTRUCTION_CHANNEL_ID))
        VP_TRY(vp_buf_puts(b, ", channel_id=1"));
    return last_number_field(instruction, HLO_INSTRUCTION_USE_GLOBAL_DEVICE_IDS)
               ? vp_buf_puts(b, ", use_global_device_ids=true")
               : 0;
}

/* Reads the device ids of an assignment. false: their number differs from replicas × partitions. */
static bool read_program(id_list *all, id_list *one, vp_str proto, uint32_t replicas,
                         uint32_t partitions)
{
    vp_pb r = vp_pb_of(proto);
    vp_pb_field f;
    uint32_t p = 0;
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number != DEVICE_ASSIGNMENT_COMPUTATION_DEVICES || f.wire != VP_PB_LEN)
            continue;
        read_ids(one, f.data, COMPUTATION_DEVICE_REPLICA_DEVICE_IDS);
        if (one->full || one->n != replicas || p == partitions)
            return false;
        for (uint32_t i = 0; i < replicas; i++)
            all->v[i * partitions + p] = one->v[i];
        p++;
    }
    all->n = replicas * partitions;
    return p == partitions;
}

static int put_program_devices(vp_buf *b, vp_str proto, uint32_t replicas, uint32_t partitions)
{
    id_list all, one;
    VP_TRY(new_list(&all));
    int rc = new_list(&one);
    if (rc >= 0 && read_program(&all, &one, proto, replicas, partitions)) {
        rc = vp_buf_printf(b, "%ux%u:", replicas, partitions);
        if (rc >= 0)
            rc = put_group_ids(b, &all);
    }
    vp_free(one.v);
    vp_free(all.v);
    return rc;
}

int hlo_put_program(vp_buf *b, vp_str proto)
{
    uint64_t replicas = last_number_field(proto, DEVICE_ASSIGNMENT_REPLICA_COUNT);
    uint64_t partitions = last_number_field(proto, DEVICE_ASSIGNMENT_COMPUTATION_COUNT);
    if (!replicas || !partitions || replicas > VP_GROUP_DEVICES_MAX ||
        partitions > VP_GROUP_DEVICES_MAX / replicas)
        return 0;
    return put_program_devices(b, proto, (uint32_t)replicas, (uint32_t)partitions);
}
