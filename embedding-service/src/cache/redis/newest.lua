local found = {}
for _, key in ipairs(redis.call('ZREVRANGE', KEYS[1], 0, ARGV[1] - 1)) do
  found[#found + 1] = {key, redis.call('HGET', key, 'vec')}
end
return found
