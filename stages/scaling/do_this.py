"""Predict a data-parallel step from what one device computes and what a link sends."""

MS_PER_IMAGE, MEGABYTES = 0.25, 45  # of the network: put in what you measured
LATENCY_MS, GB_PER_S = 0.03, 12.5  # of the link: here 100 Gb/s


def step_ms(n: int, images: int) -> float:
    t1 = MS_PER_IMAGE * images
    sent = 2 * (n - 1) / n * MEGABYTES  # ring, one bucket
    t2 = 2 * (n - 1) * LATENCY_MS + sent / GB_PER_S
    return t1 + t2  # perfect overlap would reach max(t1, t2)


for n in (1, 2, 4, 8, 16):
    step, alone = step_ms(n, 64), step_ms(1, 64)
    print(f"{n} devices: {step:.1f} ms, {alone / step:.0%} efficient")
