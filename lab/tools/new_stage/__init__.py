"""A new question: `invoke new NAME` writes its folder, its entries, and a first test that fails."""
