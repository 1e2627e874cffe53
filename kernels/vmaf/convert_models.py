#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes builtin_models.c from libvmaf's model files.

  convert_models.py MODELS_DIR >builtin_models.c

The figures are taken over digit by digit. What repeats is written once: support vectors are rows of
one table a family (the models of a bootstrap collection share theirs), each used with a weight.
"""
import json
import sys

MODELS = ["vmaf_v0.6.1", "vmaf_v0.6.1neg", "vmaf_4k_v0.6.1", "vmaf_4k_v0.6.1neg", "vmaf_b_v0.6.3"]

HEAD = """/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The built-in VMAF models, made by convert_models.py; do not edit. Figures from the model files of
 * Netflix's vmaf (https://github.com/Netflix/vmaf), Copyright 2016-2026 Netflix, Inc.,
 * BSD-2-Clause-Patent. */
#include "kernels/vmaf/model_data.h"

/* clang-format off */
"""


def identifier(name):
    return name.replace(".", "_")


def wrap(items, width=98):
    """Comma-separated items in indented lines."""
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > width:
            lines.append(line)
            line = "   "
        line += " " + item + ","
    return "\n".join(lines + [line])


class Tables:
    """Constant tables; one that was written before is used again."""

    def __init__(self):
        self.names = {}

    def add(self, kind, name, body):
        key = (kind, body)
        if key not in self.names:
            self.names[key] = name
            print(f"static const {kind} {name}[] = {{\n{body}\n}};\n")
        return self.names[key]


def read_svm(text, n_features):
    """Header fields, and a (weight, row) for each support vector, all as text."""
    head, _, body = text.partition("SV\n")
    fields = dict(line.split(" ", 1) for line in head.strip().split("\n"))
    assert fields["svm_type"] == "nu_svr" and fields["kernel_type"] == "rbf"
    supports = []
    for line in body.strip().split("\n"):
        weight, *values = line.split()
        row = dict(value.split(":") for value in values)
        assert all(1 <= int(index) <= n_features for index in row)
        supports.append((weight, tuple(row.get(str(i + 1), "0") for i in range(n_features))))
    assert len(supports) == int(fields["total_sv"])
    return fields, supports


def transform(spec):
    if not spec:
        return "{0}"
    assert "knots" not in spec and "enabled" not in spec
    p = ", ".join(repr(spec.get(name, 0.0)) for name in ("p0", "p1", "p2"))
    flags = "".join(f", .{flag} = TRUE" for flag in ("out_lte_in", "out_gte_in")
                    if spec.get(flag) == "true")
    return f"{{.polynomial = TRUE, .p = {{{p}}}{flags}}}"


def options(spec):
    return '"' + ":".join(f"{k}={v!r}" for k, v in spec.items()) + '"' if spec else "NULL"


def write_model(tables, name, models):
    c = identifier(name)
    dicts = [m["model_dict"] for m in models]
    features = dicts[0]["feature_names"]
    specs = dicts[0].get("feature_opts_dicts", [{}] * len(features))
    assert all(d["feature_names"] == features for d in dicts)
    assert all(d["norm_type"] == "linear_rescale" for d in dicts)
    feature = tables.add("HvModelFeature", f"{c}_features", "\n".join(
        f'    {{"{f}", {options(s)}}},' for f, s in zip(features, specs)))

    read = [read_svm(d["model"], len(features)) for d in dicts]
    rows = list(dict.fromkeys(row for _, supports in read for _, row in supports))
    number = {row: i for i, row in enumerate(rows)}
    points = tables.add("double", f"{c}_points",
                        "\n".join("    " + ", ".join(row) + "," for row in rows))
    svrs = []
    for i, (d, (fields, supports)) in enumerate(zip(dicts, read)):
        one = f"{c}_{i}" if len(dicts) > 1 else c
        support = tables.add("HvSupport", f"{one}_supports",
                             wrap(f"{{{number[row]}, {weight}}}" for weight, row in supports))
        slopes = tables.add("double", f"{one}_slopes", wrap(map(repr, d["slopes"][1:])))
        intercepts = tables.add("double", f"{one}_intercepts", wrap(map(repr, d["intercepts"][1:])))
        svrs.append(
            f"    {{.gamma = {fields['gamma']}, .rho = {fields['rho']}, .points = {points},\n"
            f"     .support = {support}, .n_supports = {len(supports)},\n"
            f"     .rescale = TRUE, .slope = {d['slopes'][0]!r}, .intercept = {d['intercepts'][0]!r},\n"
            f"     .slopes = {slopes}, .intercepts = {intercepts},\n"
            f"     .clip = TRUE, .min = {d['score_clip'][0]!r}, .max = {d['score_clip'][1]!r},\n"
            f"     .transform = {transform(d.get('score_transform'))}}},")
    svr = tables.add("HvSvr", f"{c}_svrs", "\n".join(svrs))
    bootstrap = "TRUE" if "BOOTSTRAP" in dicts[0]["model_type"] else "FALSE"
    return f'    {{"{name}", {bootstrap}, {feature}, {len(features)}, {svr}, {len(svrs)}}},'


def main():
    tables = Tables()
    print(HEAD)
    entries = []
    for name in MODELS:
        with open(f"{sys.argv[1]}/{name}.json", encoding="utf-8") as file:
            content = json.load(file)
        models = [content] if "model_dict" in content else \
            [content[str(i)] for i in range(len(content))]
        entries.append(write_model(tables, name, models))
    print("const HvModelData hv_builtin_models[] = {")
    print("\n".join(entries))
    print("    {NULL},\n};")


if __name__ == "__main__":
    main()
