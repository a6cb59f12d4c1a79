"""Inputs that once ended in a traceback, a hang, or words without a cure; smallest forms of them.

A target, the file of the project, what is written into it, and how it must end.
"""

PARAMS, RUN_METRICS = "params.yaml", "reports/train/lenet_1gpu/metrics.json"
WEIGHTS, SMALL, SECONDS = "models/lenet_1gpu.pt", "checkpoint.pt", ".lab/stage_seconds.json"
REFERENCE = "reports/reference/amd-epyc-avx512.json"
VERDICTS = "reports/claims/rows.csv"
ROW = b"id,over,reason,level,low,high,device_kind,verdict,effect,samples\nF1a,starts,,0.99,1,2,"
HARDWARE = b"""{"accelerator": {"count": 0, "names": null}, "software": {"os": "", "python": "",
"torch": "", "torchvision": ""}, "cpu": {"instructions": "", "model": "", "omp_num_threads": null,
"quota_cores": null, "ram_gib": 1, "usable_cores": 1}}"""
CLAIMS = (
    b"""{"profile": "a", "hardware": %s, "claims": [{"id": "F1a", "verdict": "confirmed",
"effect": EFFECT, "low": 1, "high": 2, "level": 0.99, "samples": 12, "over": "starts",
"reason": "", "device_kind": "cpu"}]}"""
    % HARDWARE
)
LABELS = "data/FashionMNIST/raw/t10k-labels-idx1-ubyte"
# images of 60,000 x 60,000 and of 2**31 - 1 pixels in a line, of which nothing follows
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xea`\0\0\xea`\x08\0\0\0\0\x80\x80\x94\x15"
CHARSET = b"""msgid ""
msgstr ""
"Content-Type: text/plain; charset=a\\n"

msgid "b"
msgstr "c"
"""
# 8 ** 8 times the same word
BOMB = b"a: &a [x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (n, n, b", ".join([b"*%c" % (n - 1)] * 8)) for n in b"bcdefgh"
)
GIF = b"GIF89a\xff\xff\xff\xff\0\0\0,\0\0\0\0\xff\xff\xff\xff\0\x02"

CASES: tuple[tuple[str, str, bytes, str], ...] = (
    # what people write
    ("params", "small.json", b'{"data": {"mirrors": {"\\ud800": []}}}', "refused"),
    ("params", "small.json", b'{"seed": "\\ud800"}', "refused"),
    ("params", "small.json", b"seed: !!python/object/apply:os.system [touch canary]", "refused"),
    ("params", "small.json", b"seed: !!python/name:" + b"a" * 5000, "refused"),
    ("params", "small.json", b"[" * 3000, "refused"),
    ("params", "small.json", BOMB, "refused"),
    ("params", "small.json", b"seed: 1\nseed: 2", "refused"),
    ("params", "small.json", b"data:\n\t- a", "refused"),
    ("params", "small.json", b"data: 2020-99-99", "refused"),
    ("all params", PARAMS, b'{"\\udbb8": {}}', "refused"),
    ("profiles", "profiles/laptop.yaml", b"seed: 0", "refused"),
    ("profiles", "profiles/laptop.yaml", b"train: 1", "refused"),
    ("profiles", "profiles/laptop.yaml", b"train: {defaults: {}}\nseed: 2020-99-99", "refused"),
    ("profiles", "profiles/smoke.yaml", b'seed: "\\ud800"', "accepted"),
    ("predict", PARAMS, b"seed: 0", "refused"),
    ("predict", PARAMS, b"train: {runs: 1}", "refused"),
    # what stages leave
    ("json", "reports/hardware.json", b"[" * 100_000, "refused"),
    ("json", "reports/hardware.json", b'{"a": ' + b"9" * 5000 + b"}", "refused"),
    ("rows", "reports/together/rows.csv", b"a,b\n1,\x0c1e999\n", "refused"),
    ("rows", "reports/together/rows.csv", b"a,b\n1,\xff\n", "refused"),
    ("rows", "reports/together/rows.csv", b'a,b\n1,"' + b"2" * 140_000, "refused"),
    ("predict", RUN_METRICS, b"{}", "refused"),
    ("predict", RUN_METRICS, b'{"net": []}', "refused"),
    ("compare", REFERENCE, b"{}", "refused"),
    ("compare", "reports/hardware.json", b"{}", "refused"),
    ("doctor", "data/source.json", b"{}", "refused"),
    ("doctor", "dvc.lock", b"stages: [1, 2]", "refused"),
    ("doctor", ".dvc/tmp/rwlock", b"garbage{", "refused"),
    ("source", "data/source.json", b'{"fashion_mnist": "original", "airfoil": []}', "refused"),
    ("stage times", SECONDS, b'{"probe": "31"}', "accepted"),
    ("stage times", SECONDS, b'{"probe": [2.5]}', "accepted"),
    ("stage times", SECONDS, b"", "accepted"),
    ("stage times", SECONDS, b'{"probe": ' + b"9" * 400 + b"}", "accepted"),
    ("retest", "reports/retest/1.json", CLAIMS.replace(b"EFFECT", b"1.5"), "accepted"),
    ("retest", "reports/retest/1.json", CLAIMS.replace(b"EFFECT", b'"1e999"'), "refused"),
    ("retest", "reports/retest/1.json", CLAIMS.replace(b"EFFECT", b"9" * 400), "refused"),
    ("page", VERDICTS, ROW + b"cpu,confirmed,1.5,one\n", "accepted"),
    ("page", VERDICTS, ROW + b"toaster,confirmed,1.5,2\n", "accepted"),
    ("page", VERDICTS, ROW + b"1.5,perhaps,1.5,2\n", "accepted"),
    # bytes
    ("images", LABELS, b"\0\0\x08\x01\0\0\0\x14" + b"\x0a" * 20, "refused"),
    ("airfoil", "data/airfoil/airfoil_self_noise.dat", b"a" * 5000, "refused"),
    ("gzip", "small.gz", b"\x1f\x8b\x08\0", "refused"),
    ("picture", "a.png", PNG, "refused"),
    ("picture", "a.gif", GIF, "refused"),
    ("picture", "a.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "refused"),
    ("weights", WEIGHTS, b"", "refused"),
    ("weights", WEIGHTS, b"PK\x05\x06" + b"\0" * 18, "refused"),
    ("weights", WEIGHTS, b"\x80\x02cposix\nsystem\nX\x0c\0\0\0touch canary\x85R.", "refused"),
    ("checkpoint", SMALL, b"\x80\x02]q\0.", "refused"),
    ("checkpoint", SMALL, b"\x80\x02}(\x80\x80\x80\x80.", "refused"),
    # the translations
    ("catalogue", "zh.po", b"\xff\xfe", "refused"),
    ("catalogue", "zh.po", b'msgid ""\nmsgstr ""\n"Language: {h\\n"\n', "refused"),
    ("catalogue", "zh.po", CHARSET, "refused"),
    ("catalogue", "zh.po", b'msgid "a\n', "refused"),
)
