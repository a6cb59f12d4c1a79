"""What do learning-rate schedules buy, and does warm-up prevent divergence?

Every schedule of the book and two more are drawn, and tried on Fashion-MNIST. Then warm-up is put
to the test that the book's code never makes: it sets the rate only after the epoch, so that its
first epoch runs at the full rate and its second, with warm-up, at rate 0. Here schedules are read
before each step; what the book's code does is one of the arms.

The networks are small (14 x 14 pixels, three hidden layers of 32, plain SGD), so that all seeds,
rates and schedules train in one batched matrix product. A run has failed if its loss is infinite or
if it labels the test images no better than a constant answer.

Read `reports/schedules/rows.csv`: per demo and series, points (x, y) with the band of the middle
half of the seeds. Book: 12.11.
"""
