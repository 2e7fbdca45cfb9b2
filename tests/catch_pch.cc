// Only there to own the precompiled header of Catch2.
