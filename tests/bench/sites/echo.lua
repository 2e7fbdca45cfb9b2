-- For wrk: POST of 64 KB.
wrk.method = "POST"
wrk.body = string.rep("b", 65536)
