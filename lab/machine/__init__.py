"""This machine: its devices, hardware and memory, and torchvision with any torch."""
