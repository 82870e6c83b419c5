-- Writes documents and entries of logs, if the documents that were read are as they were. Gives the new version, or 0.
-- KEYS: the clock. ARGV: count, then key and version each; count, then key, list of changes, TTL and data each; count, then key, most,
-- TTL and data each.
local at = 0
local function take()
  at = at + 1
  return ARGV[at]
end
for _ = 1, tonumber(take()) do
  local key, version = take(), take()
  if (redis.call('HGET', key, 'v') or '0') ~= version then return '0' end
end
-- After a loss of all data versions go on rising.
if redis.call('EXISTS', KEYS[1]) == 0 then
  local time = redis.call('TIME')
  redis.call('SET', KEYS[1], string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
end
local version = string.format('%.0f', redis.call('INCR', KEYS[1]))
for _ = 1, tonumber(take()) do
  local key, changes, ttl, data = take(), take(), take(), take()
  redis.call('HSET', key, 'v', version, 'd', data)
  if ttl == '0' then redis.call('PERSIST', key) else redis.call('PEXPIRE', key, ttl) end
  redis.call('ZADD', changes, version, key)
  -- What has expired leaves the list too: of each two that are looked at, one is the oldest and one is any.
  for _, old in ipairs({redis.call('ZRANGE', changes, 0, 0)[1], redis.call('ZRANDMEMBER', changes)}) do
    if redis.call('EXISTS', old) == 0 then redis.call('ZREM', changes, old) end
  end
end
for index = 1, tonumber(take()) do
  local key, most, ttl, data = take(), take(), take(), take()
  redis.call('XADD', key, 'MAXLEN', '~', most, version .. '-' .. index, 'd', data)
  if ttl ~= '0' then redis.call('PEXPIRE', key, ttl) end
end
return version
