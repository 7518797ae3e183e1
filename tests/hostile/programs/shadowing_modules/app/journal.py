WHO = "the user's journal"
