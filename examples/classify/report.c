/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define NS_PER_MS 1e6

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

static double median_ms(uint64_t *samples, uint32_t count)
{
	if (count == 0)
		return 0;
	qsort(samples, count, sizeof(*samples), by_value);
	return (double)samples[count / 2] / NS_PER_MS;
}

static double giga_flops(int64_t macs, double ms)
{
	return ms > 0 ? 2e-6 * (double)macs / ms : 0;
}

/* Returns the rate of a stage that is always busy. */
static double per_s(double ms)
{
	return ms > 0 ? 1e3 / ms : 0;
}

static const char *noun(const struct report *r)
{
	return r->stream ? "frame" : "photo";
}

static void put_json(const struct report *r, json_t *object)
{
	json_dumpf(object, r->out, JSON_COMPACT | JSON_REAL_PRECISION(7));
	fputc('\n', r->out);
	json_decref(object);
}

void report_layers(FILE *out, const struct model *m)
{
	fprintf(out, "%4s %-17s %9s %8s %12s  %s\n", "op", "operator", "MMAC", "crosses", "bytes",
		"layer");
	for (int32_t i = 0; i < m->op_count; i++) {
		struct cut cut;
		int32_t count = plan_crossing(m, i, &cut);
		fprintf(out, "%4d %-17s %9.2f %8d ", i, op_kind_name(m->ops[i].kind),
			(double)m->ops[i].macs / 1e6, count);
		if (count <= CUT_TENSORS_MAX)
			fprintf(out, "%12llu", (unsigned long long)plan_cut_bytes(m, &cut));
		else
			fprintf(out, "%12s", "no cut");
		fprintf(out, "  %s\n", model_layer_name(m, i));
	}
}

static json_t *photo_json(const struct report *r, const char *path, const struct run_result *result,
			  const int32_t *top, int32_t count)
{
	json_t *answers = json_array(), *stages = json_array(), *links = json_array();

	for (int32_t i = 0; i < count; i++) {
		char name[LABEL_BYTES_MAX];
		labels_name(&r->labels, top[i], name, sizeof(name));
		json_array_append_new(answers, json_pack("{s:i,s:s%,s:f}", "index", (int)top[i],
							 "label", name, strlen(name), "p",
							 (double)result->answer[top[i]]));
	}
	for (uint32_t i = 0; i < r->plan->stage_count; i++) {
		json_array_append_new(stages, json_real((double)result->stage_ns[i] / NS_PER_MS));
		if (i + 1 < r->plan->stage_count)
			json_array_append_new(links,
					      json_real((double)result->link_ns[i] / NS_PER_MS));
	}
	return json_pack("{s:s,s:o,s:f,s:o,s:o}", "photo", path, "top", answers, "total_ms",
			 (double)result->total_ns / NS_PER_MS, "stage_ms", stages, "link_ms",
			 links);
}

static void photo_text(const struct report *r, const char *path, const struct run_result *result,
		       const int32_t *top, int32_t count)
{
	fprintf(r->out, "%s\n", path);
	for (int32_t i = 0; i < count; i++) {
		char name[LABEL_BYTES_MAX];
		labels_name(&r->labels, top[i], name, sizeof(name));
		fprintf(r->out, "  %6.2f %%  %s\n", 100 * (double)result->answer[top[i]], name);
	}
	fflush(r->out);
}

static void sample(struct report *r, const struct run_result *result)
{
	if (r->sample_count == REPORT_SAMPLES_MAX)
		return;
	uint32_t n = r->sample_count++;
	r->total_ns[n] = result->total_ns;
	for (uint32_t i = 0; i < r->plan->stage_count; i++) {
		r->stage_ns[i][n] = result->stage_ns[i];
		r->link_ns[i][n] = result->link_ns[i];
	}
}

void report_photo(struct report *r, const char *path, const struct run_result *result)
{
	int32_t top[TOP_MAX + 1];
	int32_t count = labels_top(result->answer, result->answer_count, r->top, top);

	r->photos++;
	sample(r, result);
	if (r->json) {
		json_t *object = photo_json(r, path, result, top, count);
		if (object)
			put_json(r, object);
	} else {
		photo_text(r, path, result, top, count);
	}
}

/* Writes the crossing tensor, such as "pool3", or "conv_a and 1 more". */
static void cut_text(const struct report *r, const struct cut *cut, char *out, size_t size)
{
	const char *first = r->model->tensors[cut->tensors[0]].name;

	if (cut->count == 1)
		snprintf(out, size, "%s", first);
	else
		snprintf(out, size, "%s and %d more", first, cut->count - 1);
}

static json_t *stages_json(struct report *r)
{
	json_t *stages = json_array();

	for (uint32_t i = 0; i < r->plan->stage_count; i++) {
		const struct stage *s = &r->plan->stages[i];
		double ms = median_ms(r->stage_ns[i], r->sample_count);
		struct dxp_link_bytes nic;
		r->backend->ops->traffic(r->backend, i, &nic);
		json_array_append_new(
			stages, json_pack("{s:s,s:s,s:i,s:i,s:s,s:I,s:f,s:f,s:f,s:I,s:I}", "xpu",
					  r->backend->names[i], "device", r->backend->devices[i],
					  "first", (int)s->first, "last", (int)s->last,
					  "last_layer", model_layer_name(r->model, s->last), "macs",
					  (json_int_t)s->macs, "median_ms", ms, "photos_per_s",
					  per_s(ms), "gflops", giga_flops(s->macs, ms),
					  "nic_sent_bytes", (json_int_t)nic.sent_bytes,
					  "nic_received_bytes", (json_int_t)nic.received_bytes));
	}
	return stages;
}

static json_t *links_json(struct report *r, const struct run_bytes *bytes)
{
	json_t *links = json_array();

	for (uint32_t i = 0; i + 1 < r->plan->stage_count; i++) {
		const struct cut *cut = &r->plan->cuts[i];
		json_t *tensors = json_array();
		for (int32_t k = 0; k < cut->count; k++)
			json_array_append_new(tensors,
					      json_string(r->model->tensors[cut->tensors[k]].name));
		json_array_append_new(
			links,
			json_pack("{s:s,s:s,s:o,s:I,s:I,s:f}", "from", r->backend->names[i], "to",
				  r->backend->names[i + 1], "tensors", tensors, "bytes_per_photo",
				  (json_int_t)plan_cut_bytes(r->model, cut), "bytes",
				  (json_int_t)bytes->links[i], "median_ms",
				  median_ms(r->link_ns[i], r->sample_count)));
	}
	return links;
}

static void summary_json(struct report *r, const struct run_bytes *bytes)
{
	double run_ms = (double)r->run_ns / NS_PER_MS;
	json_t *host =
		json_pack("{s:I,s:I,s:I}", "model_bytes", (json_int_t)bytes->model, "photo_bytes",
			  (json_int_t)bytes->photos, "answer_bytes", (json_int_t)bytes->answers);
	json_t *summary = json_pack(
		"{s:s,s:i,s:I,s:o,s:o,s:o,s:f,s:f,s:f,s:I,s:f,s:f}", "model", r->model->path,
		"photos", (int)r->photos, "macs", (json_int_t)model_macs(r->model), "stages",
		stages_json(r), "links", links_json(r, bytes), "host", host, "setup_ms",
		(double)r->setup_ns / NS_PER_MS, "run_ms", run_ms, "run_cpu_ms",
		(double)r->run_cpu_ns / NS_PER_MS, "run_nic_bytes", (json_int_t)r->run_nic_bytes,
		"median_ms", median_ms(r->total_ns, r->sample_count), "photos_per_s",
		run_ms > 0 ? 1e3 * r->photos / run_ms : 0);

	if (summary)
		put_json(r, json_pack("{s:o}", "summary", summary));
}

static void summary_text(struct report *r, const struct run_bytes *bytes)
{
	double run_ms = (double)r->run_ns / NS_PER_MS;

	fprintf(r->out, "\n%-5s %-12s %10s %8ss/s %10s  %s\n", "stage", "xPU", "median ms", noun(r),
		"GFLOP/s", "layers");
	for (uint32_t i = 0; i < r->plan->stage_count; i++) {
		const struct stage *s = &r->plan->stages[i];
		double ms = median_ms(r->stage_ns[i], r->sample_count);
		fprintf(r->out, "%-5u %-12s %10.2f %10.1f %10.1f  %d .. %d, %s (%s)\n", i,
			r->backend->names[i], ms, per_s(ms), giga_flops(s->macs, ms), s->first,
			s->last, model_layer_name(r->model, s->last), r->backend->devices[i]);
	}
	for (uint32_t i = 0; i + 1 < r->plan->stage_count; i++) {
		char what[300];
		cut_text(r, &r->plan->cuts[i], what, sizeof(what));
		fprintf(r->out,
			"link  %s -> %s: %llu bytes a %s, %.2f ms, %llu bytes in all (%s)\n",
			r->backend->names[i], r->backend->names[i + 1],
			(unsigned long long)plan_cut_bytes(r->model, &r->plan->cuts[i]), noun(r),
			median_ms(r->link_ns[i], r->sample_count),
			(unsigned long long)bytes->links[i], what);
	}
	fprintf(r->out,
		"host  %llu bytes of %ss out, %llu bytes of results in; once before, %llu bytes "
		"of weights\n",
		(unsigned long long)bytes->photos, noun(r), (unsigned long long)bytes->answers,
		(unsigned long long)bytes->model);
	fprintf(r->out,
		"time  set-up %.0f ms, then %u %ss in %.1f ms: %.1f %ss/s, median %.1f ms each\n",
		(double)r->setup_ns / NS_PER_MS, r->photos, noun(r), run_ms,
		run_ms > 0 ? 1e3 * r->photos / run_ms : 0, noun(r),
		median_ms(r->total_ns, r->sample_count));
}

void report_summary(struct report *r, const struct run_bytes *bytes)
{
	if (r->json)
		summary_json(r, bytes);
	else
		summary_text(r, bytes);
}
