-- What was written of one kind after a version: epoch, clock, oldest version, then key, version and data each.
-- KEYS: the epoch, the clock, the list of changes. ARGV: an epoch where there is none, the version, how many.
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SET', KEYS[1], ARGV[1]) end
local found = {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]) or '0', ''}
for _ = 1, 100 do
  local oldest = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')
  if not oldest[1] then break end
  if redis.call('EXISTS', oldest[1]) == 1 then
    found[3] = oldest[2]
    break
  end
  redis.call('ZREM', KEYS[3], oldest[1])
end
local keys = redis.call('ZRANGEBYSCORE', KEYS[3], '(' .. ARGV[2], '+inf', 'LIMIT', 0, ARGV[3])
for _, key in ipairs(keys) do
  local document = redis.call('HMGET', key, 'v', 'd')
  found[#found + 1] = key
  found[#found + 1] = document[1] or ''
  found[#found + 1] = document[2] or ''
end
return found
