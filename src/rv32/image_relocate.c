/* SPDX-License-Identifier: BSD-3-Clause */
/* RISC-V ELF psABI, "Relocation types". A PCREL_LO12 refers to its PCREL_HI20's instruction, so
 * values of PCREL_HI20 are stored by instruction. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "rv32/image_internal.h"

/* `at`: bytes to change; `value`: symbol + addend. */
struct fix {
	uint8_t *at;
	uint32_t address; /* of these bytes, linked */
	uint32_t value;
	uint32_t type;
};

struct pcrel {
	uint32_t value;
	bool set;
};

static uint32_t get_le(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static void put_le(uint8_t *at, uint32_t word)
{
	memcpy(at, &word, sizeof(word));
}

static void upper_put(uint8_t *at, uint32_t value)
{
	put_le(at, (get_le(at) & 0xfff) | ((value + 0x800) & 0xfffff000));
}

static void lower_i_put(uint8_t *at, uint32_t value)
{
	put_le(at, (get_le(at) & 0xfffff) | value << 20);
}

static void lower_s_put(uint8_t *at, uint32_t value)
{
	put_le(at, (get_le(at) & 0x01fff07f) | (value & 0xfe0) << 20 | (value & 0x1f) << 7);
}

/* Returns false if the distance is too long. */
static bool branch_put(uint8_t *at, uint32_t distance)
{
	const int32_t d = (int32_t)distance;

	if (d < -4096 || d > 4094 || (d & 1))
		return false;
	put_le(at, (get_le(at) & 0x01fff07f) | (distance >> 12 & 1) << 31 |
			   (distance >> 5 & 0x3f) << 25 | (distance >> 1 & 0xf) << 8 |
			   (distance >> 11 & 1) << 7);
	return true;
}

static bool jump_put(uint8_t *at, uint32_t distance)
{
	const int32_t d = (int32_t)distance;

	if (d < -(1 << 20) || d >= 1 << 20 || (d & 1))
		return false;
	put_le(at, (get_le(at) & 0xfff) | (distance >> 20 & 1) << 31 |
			   (distance >> 1 & 0x3ff) << 21 | (distance >> 11 & 1) << 20 |
			   (distance >> 12 & 0xff) << 12);
	return true;
}

/* Bytes that it needs; 0: unknown type; 1: changes nothing. */
static uint32_t type_bytes(uint32_t type)
{
	switch (type) {
	case R_RISCV_NONE:
	case R_RISCV_RELAX: return 1;
	case R_RISCV_CALL:
	case R_RISCV_CALL_PLT: return 8;
	case R_RISCV_32:
	case R_RISCV_ADD32:
	case R_RISCV_SUB32:
	case R_RISCV_SET32:
	case R_RISCV_32_PCREL:
	case R_RISCV_BRANCH:
	case R_RISCV_JAL:
	case R_RISCV_HI20:
	case R_RISCV_LO12_I:
	case R_RISCV_LO12_S:
	case R_RISCV_PCREL_HI20:
	case R_RISCV_PCREL_LO12_I:
	case R_RISCV_PCREL_LO12_S: return 4;
	default: return 0;
	}
}

static bool is_pcrel_low(uint32_t type)
{
	return type == R_RISCV_PCREL_LO12_I || type == R_RISCV_PCREL_LO12_S;
}

/* Returns false if a jump cannot reach its target. */
static bool fix_apply(const struct fix *f)
{
	const uint32_t distance = f->value - f->address;

	switch (f->type) {
	case R_RISCV_BRANCH: return branch_put(f->at, distance);
	case R_RISCV_JAL: return jump_put(f->at, distance);
	case R_RISCV_CALL:
	case R_RISCV_CALL_PLT:
		upper_put(f->at, distance);
		lower_i_put(f->at + 4, distance);
		return true;
	case R_RISCV_PCREL_HI20: upper_put(f->at, distance); return true;
	case R_RISCV_HI20: upper_put(f->at, f->value); return true;
	case R_RISCV_LO12_I:
	case R_RISCV_PCREL_LO12_I: lower_i_put(f->at, f->value); return true;
	case R_RISCV_LO12_S:
	case R_RISCV_PCREL_LO12_S: lower_s_put(f->at, f->value); return true;
	case R_RISCV_32:
	case R_RISCV_SET32: put_le(f->at, f->value); return true;
	case R_RISCV_ADD32: put_le(f->at, get_le(f->at) + f->value); return true;
	case R_RISCV_SUB32: put_le(f->at, get_le(f->at) - f->value); return true;
	case R_RISCV_32_PCREL: put_le(f->at, distance); return true;
	default: return true;
	}
}

/* `pcrels`: PCREL_HI20 by word of code. */
struct pass {
	struct image_linker *l;
	size_t object;
	struct pcrel *pcrels;
	bool low; /* second pass: only PCREL_LO12, which need the first */
};

/* Replaces f->value, the address of an auipc, by the distance that it computes. */
static int pcrel_get(const struct pass *p, struct fix *f)
{
	const uint32_t index = (f->value - RV32_CODE_BASE) / 4;

	if (f->value % 4 != 0 || index >= p->l->image->code_words || !p->pcrels[index].set)
		return image_fail(p->l, DXP_EMALFORMED,
				  "object %zu: a PCREL_LO12 without its PCREL_HI20", p->object);
	f->value = p->pcrels[index].value;
	return DXP_OK;
}

static int fix_do(const struct pass *p, struct fix *f)
{
	if (p->low) {
		int status = pcrel_get(p, f);
		if (status != DXP_OK)
			return status;
	}
	if (f->type == R_RISCV_PCREL_HI20 && f->address % 4 == 0 && f->address < RV32_BUFFER_BASE) {
		uint32_t index = (f->address - RV32_CODE_BASE) / 4;
		if (index < p->l->image->code_words)
			p->pcrels[index] = (struct pcrel){f->value - f->address, true};
	}
	if (!fix_apply(f))
		return image_fail(p->l, DXP_ERANGE,
				  "object %zu: a branch at 0x%x cannot reach 0x%x; make the "
				  "function shorter",
				  p->object, f->address, f->value);
	return DXP_OK;
}

static int rela_do(const struct pass *p, uint32_t section, const Elf32_Rela *r)
{
	struct image_linker *l = p->l;
	const struct image_object *o = &l->objects[p->object];
	const struct image_section *s = &o->sections[section];
	const uint32_t bytes = o->headers[section].sh_size;
	struct fix f = {.type = ELF32_R_TYPE(r->r_info), .address = s->address + r->r_offset};
	const uint32_t changed = type_bytes(f.type);

	if (changed == 0)
		return image_fail(l, DXP_EMALFORMED,
				  "object %zu: relocation type %u is not known here", p->object,
				  f.type);
	if (changed == 1 || is_pcrel_low(f.type) != p->low)
		return DXP_OK;
	if (r->r_offset > bytes || changed > bytes - r->r_offset)
		return image_fail(l, DXP_EMALFORMED,
				  "object %zu: a relocation at 0x%x is outside its section",
				  p->object, r->r_offset);
	int status = image_symbol_address(l, p->object, ELF32_R_SYM(r->r_info), &f.value);
	if (status != DXP_OK)
		return status;
	f.value += (uint32_t)r->r_addend;
	f.at = s->place == PLACE_CODE ? (uint8_t *)l->image->code + (f.address - RV32_CODE_BASE)
				      : l->image->constants + (f.address - l->image->constant_base);
	return fix_do(p, &f);
}

static int table_do(const struct pass *p, uint32_t table)
{
	const struct image_object *o = &p->l->objects[p->object];
	const Elf32_Shdr *h = &o->headers[table];
	Elf32_Rela r;

	if (h->sh_type == SHT_REL)
		return image_fail(p->l, DXP_EMALFORMED, "object %zu: relocations without addends",
				  p->object);
	if (h->sh_type != SHT_RELA)
		return DXP_OK;
	if (h->sh_info >= o->section_count)
		return image_fail(p->l, DXP_EMALFORMED, "object %zu: relocations of no section",
				  p->object);
	const uint8_t place = o->sections[h->sh_info].place;
	if (place != PLACE_CODE && place != PLACE_CONSTANT)
		return DXP_OK;
	for (uint32_t at = 0; h->sh_size - at >= sizeof(r); at += (uint32_t)sizeof(r)) {
		memcpy(&r, o->data + h->sh_offset + at, sizeof(r));
		int status = rela_do(p, h->sh_info, &r);
		if (status != DXP_OK)
			return status;
	}
	return DXP_OK;
}

static int pass_do(struct pass *p)
{
	int status = DXP_OK;

	for (p->object = 0; status == DXP_OK && p->object < p->l->count; p->object++)
		for (uint32_t i = 0; status == DXP_OK && i < p->l->objects[p->object].section_count;
		     i++)
			status = table_do(p, i);
	return status;
}

int image_relocate(struct image_linker *l)
{
	struct pass p = {.l = l};

	p.pcrels = calloc(l->image->code_words + 1, sizeof(*p.pcrels));
	if (!p.pcrels)
		return DXP_ENOMEM;
	int status = pass_do(&p);
	p.low = true;
	if (status == DXP_OK)
		status = pass_do(&p);
	free(p.pcrels);
	return status;
}
