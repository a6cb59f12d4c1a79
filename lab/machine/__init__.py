"""This machine: its devices, its hardware, its memory, and torchvision beside any torch."""
