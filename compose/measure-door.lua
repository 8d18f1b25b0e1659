-- Valid updates for measure-door: every request is for another of the 1,000 activities that run.
local number = 0
local seed = 0

function setup(thread)
    thread:set("seed", seed)
    seed = seed + 500
end

function init()
    number = seed
end

function request()
    number = number + 1
    local body = string.format(
        '{"request":{"application":"LOAD-%d","auth":"k-load","notifications":[{"live_activity_id":"order-%d",'
            .. '"live_activity":{"event":"update","content-state":{"step":%d,"courier":"Kim","minutes":12,'
            .. '"place":{"lat":52.52,"lon":13.405},"note":"Around the corner \\ud83d\\ude80"}}}]}}',
        number % 4 + 1, math.floor(number / 4) % 250 + 1, number)
    return wrk.format("POST", "/json/1.3/updateLiveActivity", { ["Content-Type"] = "application/json" }, body)
end
