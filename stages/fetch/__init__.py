"""Where do the data come from? Fashion-MNIST and the airfoil table, checked against pinned SHA-256
hashes.

Published files that lie under data/ in torchvision's layout, packed or not, are used as they are.
Others are looked for in LAB_DATA_MIRROR (a folder or an address with `fashion-mnist/` and
`airfoil/` under it, or torchvision's root), then in the mirrors of params.yaml. A mirror that is
silent for `data.timeout_s` is given up. Where nothing can be reached and LAB_DATA_MIRROR is not
set, seeded look-alikes are drawn and every result says so. Any other file of yours in the place of
one that is fetched stops the stage, and stays.

Read `data/source.json`: for each set `original` or `synthetic`, and the hash of each file. Book:
the images are those of section 4.2, the table that of 12.5.
"""
