"""The specialist data-loading."""

from firstcause.specialists.data_loading import nan_in_data, outlier_in_data
from firstcause.specialists.specialist import Specialist

SPECIALIST = Specialist("data-loading", (nan_in_data, outlier_in_data))
