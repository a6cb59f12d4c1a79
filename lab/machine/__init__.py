"""This machine: its devices, its facts, its memory, and torchvision beside any torch."""
