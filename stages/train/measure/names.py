"""The names that the stage's results and its section share."""

WEIGHTS = "models/{run}.pt"  # under the project's root
# columns of rows.csv
TEST_ACCURACY, TRAIN_LOSS, SECONDS = "test_accuracy", "train_loss", "seconds"
# metrics, beside the run's settings
FINAL_ACCURACY, FINAL_LOSS, EPOCH_S = "test_accuracy_percent", "train_loss", "epoch_s"
WEIGHTS_HASH = "weights_sha256"
