WHO = "the user's linecache"
