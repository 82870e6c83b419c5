local found = {}
for _, key in ipairs(redis.call('ZREVRANGE', KEYS[1], 0, ARGV[1] - 1)) do
  found[#found + 1] = redis.call('HMGET', key, 'moment', 'prompt', 'unseen', 'vec')
end
return found
