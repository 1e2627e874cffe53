#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds the file of metrics-location to both formats that it claims, by the reference parsers of
OpenMetrics and of Prometheus's text format, at every moment of a run. Speaks TAP."""
import os
import subprocess
import tempfile
import time

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
    from prometheus_client.parser import text_string_to_metric_families as prometheus
except ImportError:
    openmetrics = None

LABELS = {"channel": 'one "two" \\ three', "site": "", "element": "q", "_x1": "æ"}
COUNTERS = {"frames", "unpaired_frames", "pairs", "scored_pairs", "skipped_pairs",
            "flushed_pairs", "failed_pairs", "repeated_frames", "repeated_pairs", "dropped_frames"}
GAUGES = {"up", "measured_by", "scored_pairs_per_second", "last_score_timestamp_seconds",
          "alert", "paired", "interval_frames", "interval_seconds", "score",
          "alignment_offset_seconds", "alignment_confidence"}
FRAMES = 75


def launch(path):
    """75 frames in three seconds: at 25 a second, as a live source gives them."""
    labels = ",".join(f"{name}={value}" for name, value in LABELS.items() if name != "element")
    labels = labels.replace("\\", "\\\\").replace('"', '\\"')
    return subprocess.Popen([
        "gst-launch-1.0", "-q", "hipvmaf", "name=q", "interval=400000000", "alert-below=99",
        "alignment=auto", "max-offset=400000000", f"metrics-location={path}", f'metrics-labels="{labels}"', "!", "fakesink",
        "videotestsrc", "is-live=true", f"num-buffers={FRAMES}", "pattern=ball", "!",
        "video/x-raw,format=I420,width=160,height=96,framerate=25/1", "!", "tee", "name=t",
        "t.", "!", "queue", "!", "q.ref_sink", "t.", "!", "queue", "!", "q.dist_sink"],
        stdin=subprocess.DEVNULL)


def check(text):
    """Samples by name; what the two parsers read is the same."""
    assert text.endswith("# EOF\n"), text
    samples, again = {}, {}
    for family in openmetrics(text):
        name = family.name.removeprefix("hipvmaf_")
        assert family.type == ("counter" if name in COUNTERS else "gauge"), family
        assert name in COUNTERS | GAUGES and family.documentation, family
        assert family.samples, family
        for sample in family.samples:
            assert LABELS.items() <= sample.labels.items(), sample
            samples[sample.name, tuple(sorted(sample.labels.items()))] = sample.value
    for family in prometheus(text):
        for sample in family.samples:
            again[sample.name, tuple(sorted(sample.labels.items()))] = sample.value
    assert samples == again, (samples, again)
    return samples


def value(samples, name, **labels):
    """The one sample of that name with those labels."""
    found = [sample for (key, those), sample in samples.items()
             if key == "hipvmaf_" + name and labels.items() <= dict(those).items()]
    assert len(found) == 1, (name, labels, found)
    return found[0]


def watch(path):
    """Every state of the file that can be met; the last one's samples, and how many there were."""
    states, samples, ups = set(), {}, []
    with launch(path) as process:
        while not os.path.exists(path):
            assert process.poll() is None, "no file"
            time.sleep(0.001)
        over = False
        while not over:
            over = process.poll() is not None
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if text not in states:
                samples = check(text)
                ups.append(value(samples, "up"))
            states.add(text)
            time.sleep(0.01)
    assert process.returncode == 0
    assert ups == [1] * (len(ups) - 1) + [0], ups
    return samples, len(states)


def test():
    """every state of the file is valid OpenMetrics and valid Prometheus text"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "q.prom")
        samples, states = watch(path)
        assert os.listdir(folder) == ["q.prom"], os.listdir(folder)
    # At the start, once a second for three seconds, at the end; at most.
    assert 3 <= states <= 7, states
    assert value(samples, "frames_total", pad="ref_sink") == FRAMES
    assert value(samples, "frames_total", pad="dist_sink") <= FRAMES
    assert value(samples, "pairs_total") + value(samples, "unpaired_frames_total", pad="ref_sink") \
        - value(samples, "repeated_pairs_total") == FRAMES
    assert abs(value(samples, "alignment_offset_seconds")) < 0.02
    assert 0 <= value(samples, "alignment_confidence") <= 1
    assert value(samples, "pairs_total") == value(samples, "scored_pairs_total")
    assert abs(value(samples, "last_score_timestamp_seconds") - time.time()) < 60
    assert value(samples, "measured_by", backend="cpu") == 1
    for statistic in ("mean", "min", "max", "harmonic_mean", "p5"):
        value(samples, "score", score="score", statistic=statistic)
        value(samples, "score", score="integer_adm2", statistic=statistic)


def main():
    print("1..1")
    if openmetrics is None:
        print("ok 1 # SKIP python3-prometheus-client is not installed")
        return
    try:
        test()
        print("ok 1 -", test.__doc__)
    except AssertionError as error:
        print("not ok 1 -", test.__doc__)
        print("#", str(error).replace("\n", "\n# "))


main()
