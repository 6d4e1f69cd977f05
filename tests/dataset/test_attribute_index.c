/* test_attribute_index.c - attributes by key: numbers, counts, texts, collisions, renumbering. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/random.h"
#include "dataset/attribute_index.h"

static uint32_t add(struct tr_attribute_index *index, uint64_t low, uint64_t high)
{
    bool is_new, clash = false;
    uint32_t number = tr_attribute_index_add(index, (struct tr_key){low, high}, &is_new, &clash);
    assert_int_not_equal(number, TR_NONE);
    assert_false(clash);
    return number;
}

static void numbers_keys_in_order(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    struct tr_attribute_index index = {0};
    struct tr_random random;
    assert_int_equal(tr_attribute_index_find(&index, 5), TR_NONE);
    for (int round = 0; round < 3; round++) {
        tr_random_seed(&random, 1);
        for (uint32_t i = 0; i < MANY; i++) {
            struct tr_key key = {tr_random_bits(&random), i};
            bool is_new = round, clash = false;
            assert_int_equal(tr_attribute_index_find(&index, key.low), round ? i : TR_NONE);
            assert_int_equal(tr_attribute_index_add(&index, key, &is_new, &clash), i);
            assert_true(is_new == (round == 0));
            assert_false(clash);
            assert_int_equal(index.entries.at[i].count, round + 1);
            assert_true(index.entries.at[i].key == key.low);
        }
    }
    assert_int_equal(index.entries.size, MANY);
    tr_attribute_index_free(&index);
}

/* Keys that all hash to the same slot, and the key 0. */
static void finds_keys_that_collide_in_slots(void **state)
{
    (void)state;
    struct tr_attribute_index index = {0};
    for (uint64_t i = 0; i < 600; i++) {
        assert_int_equal(add(&index, i << 52, i), i);
    }
    for (uint64_t i = 0; i < 600; i++) {
        assert_int_equal(tr_attribute_index_find(&index, i << 52), i);
    }
    assert_int_equal(tr_attribute_index_find(&index, (uint64_t)600 << 52), TR_NONE);
    assert_int_equal(tr_attribute_index_find(&index, 1), TR_NONE);
    tr_attribute_index_free(&index);
}

static void detects_a_collision(void **state)
{
    (void)state;
    struct tr_attribute_index index = {0};
    assert_int_equal(add(&index, 7, 1), 0);
    assert_int_equal(add(&index, 8, 1), 1); // an equal high half is not a collision
    bool is_new = true, clash = false;
    assert_int_equal(tr_attribute_index_add(&index, (struct tr_key){7, 2}, &is_new, &clash), 0);
    assert_true(clash);
    assert_false(is_new);
    assert_int_equal(index.entries.size, 2);
    assert_true(index.high.at[0] == 1);
    tr_attribute_index_add(&index, (struct tr_key){8, 1}, &is_new, &clash);
    assert_true(clash); // once detected it is not forgotten
    tr_attribute_index_free(&index);
}

static void counts_saturate(void **state)
{
    (void)state;
    struct tr_attribute_index index = {0};
    add(&index, 7, 1);
    index.entries.at[0].count = UINT32_MAX - 1;
    add(&index, 7, 1);
    assert_true(index.entries.at[0].count == UINT32_MAX);
    add(&index, 7, 1);
    assert_true(index.entries.at[0].count == UINT32_MAX);
    tr_attribute_index_free(&index);
}

static void keeps_texts(void **state)
{
    (void)state;
    static const trellis_text texts[] = {{"word=the", 8}, {"", 0}, {"a\0b", 3}, {"last", 4}};
    struct tr_attribute_index index = {0};
    for (uint32_t i = 0; i < TR_COUNT(texts); i++) {
        assert_int_equal(add(&index, i * 11, 0), i);
        assert_true(tr_attribute_index_name(&index, i, texts[i]));
    }
    for (uint32_t i = 0; i < TR_COUNT(texts); i++) {
        assert_true(tr_text_equal(tr_attribute_index_text(&index, i), texts[i]));
    }
    tr_attribute_index_free(&index);
    assert_int_equal(tr_attribute_index_find(&index, 0), TR_NONE);
}

static void name(struct tr_attribute_index *index, uint32_t number, uint64_t low)
{
    char text[30];
    snprintf(text, sizeof text, "attribute %llu", (unsigned long long)low);
    assert_true(tr_attribute_index_name(index, number, tr_text(text)));
}

static void expect_entry(const struct tr_attribute_index *index, uint32_t number, uint64_t low)
{
    char text[30];
    snprintf(text, sizeof text, "attribute %llu", (unsigned long long)low);
    assert_true(tr_text_is(tr_attribute_index_text(index, number), text));
    assert_int_equal(tr_attribute_index_find(index, low), number);
    assert_true(index->entries.at[number].key == low);
}

/* Every third entry is removed, and the others are reversed. */
static void renumbers(void **state)
{
    (void)state;
    enum { MANY = 3000, KEPT = MANY - MANY / 3 };
    struct tr_attribute_index index = {0};
    uint32_t to[MANY], next = KEPT;
    for (uint32_t i = 0; i < MANY; i++) {
        add(&index, i, i * 3);
        name(&index, i, i);
        for (uint32_t k = 0; k < i % 4; k++) {
            add(&index, i, i * 3);
        }
        to[i] = i % 3 == 1 ? TR_NONE : --next;
    }
    assert_int_equal(next, 0);
    assert_true(tr_attribute_index_renumber(&index, to, KEPT));
    assert_int_equal(index.entries.size, KEPT);
    for (uint32_t i = 0; i < MANY; i++) {
        if (to[i] == TR_NONE) {
            assert_int_equal(tr_attribute_index_find(&index, i), TR_NONE);
        } else {
            expect_entry(&index, to[i], i);
            assert_int_equal(index.entries.at[to[i]].count, i % 4 + 1);
        }
    }
    tr_attribute_index_close(&index);
    assert_int_equal(tr_attribute_index_find(&index, 0), TR_NONE);
    assert_true(tr_text_is(tr_attribute_index_text(&index, to[0]), "attribute 0"));
    tr_attribute_index_free(&index);
}

static void can_remove_everything(void **state)
{
    (void)state;
    struct tr_attribute_index index = {0};
    assert_true(tr_attribute_index_renumber(&index, NULL, 0)); // nothing to remove yet
    const uint32_t to[] = {TR_NONE, TR_NONE};
    add(&index, 1, 1);
    add(&index, 2, 2);
    assert_true(tr_attribute_index_renumber(&index, to, 0));
    assert_int_equal(index.entries.size, 0);
    assert_int_equal(tr_attribute_index_find(&index, 1), TR_NONE);
    tr_attribute_index_free(&index);
}

/* Packed and back, everything is as before; packing takes less room, and may be done again. */
static void packs_and_unpacks(void **state)
{
    (void)state;
    enum { MANY = 30000 };
    struct tr_attribute_index index = {0};
    struct tr_random random;
    char text[40];
    tr_random_seed(&random, 3);
    for (uint32_t i = 0; i < MANY; i++) {
        int size = snprintf(text, sizeof text, "w[-1]=%u", i * 7919 % 4001);
        uint32_t number = add(&index, tr_random_bits(&random), i);
        assert_true(tr_attribute_index_name(&index, number, (trellis_text){text, (size_t)size}));
        index.entries.at[i].count = 1 + i % 300;
    }
    size_t before = MANY * sizeof(struct tr_entry) + index.bytes.size;
    for (int round = 0; round < 2; round++) {
        tr_attribute_index_pack(&index);
        assert_non_null(index.packed.at);
        assert_null(index.entries.at);
        assert_null(index.bytes.at);
        assert_true(index.packed.size < before / 2);
        assert_true(tr_attribute_index_unpack(&index));
        assert_null(index.packed.at);
    }
    assert_true(tr_attribute_index_unpack(&index)); // nothing is packed
    tr_random_seed(&random, 3);
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "w[-1]=%u", i * 7919 % 4001);
        assert_true(index.entries.at[i].key == tr_random_bits(&random));
        assert_int_equal(index.entries.at[i].count, 1 + i % 300);
        assert_true(tr_text_is(tr_attribute_index_text(&index, i), text));
    }
    tr_attribute_index_pack(&index);
    tr_attribute_index_free(&index);
}

/* What is damaged is not taken for texts. */
static void unpacks_nothing_that_is_cut_off(void **state)
{
    (void)state;
    struct tr_attribute_index index = {0};
    add(&index, 1, 1);
    assert_true(tr_attribute_index_name(&index, 0, (trellis_text){"pos=NN", 6}));
    tr_attribute_index_pack(&index);
    assert_non_null(index.packed.at);
    index.packed.size /= 2;
    assert_false(tr_attribute_index_unpack(&index));
    tr_attribute_index_free(&index);
}

/* An index without attributes has nothing to pack. */
static void packs_nothing(void **state)
{
    (void)state;
    struct tr_attribute_index index = {0};
    tr_attribute_index_pack(&index);
    assert_null(index.packed.at);
    assert_true(tr_attribute_index_unpack(&index));
    tr_attribute_index_free(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_keys_in_order), cmocka_unit_test(finds_keys_that_collide_in_slots),
        cmocka_unit_test(detects_a_collision),   cmocka_unit_test(counts_saturate),
        cmocka_unit_test(keeps_texts),           cmocka_unit_test(renumbers),
        cmocka_unit_test(can_remove_everything), cmocka_unit_test(packs_and_unpacks),
        cmocka_unit_test(packs_nothing),         cmocka_unit_test(unpacks_nothing_that_is_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
