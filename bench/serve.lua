-- Requests for wrk: the lines of the file $BODIES in turn, each as the body of a POST /v1/tag.
local bodies, at = {}, 0
for line in io.lines(os.getenv("BODIES")) do
    bodies[#bodies + 1] = line
end

function request()
    at = at % #bodies + 1
    return wrk.format("POST", "/v1/tag", { ["Content-Type"] = "application/json" }, bodies[at])
end
