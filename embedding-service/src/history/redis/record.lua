redis.call('HSET', KEYS[1], unpack(ARGV, 4))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[1], KEYS[1])
for _, old in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1 - ARGV[3])) do
  redis.call('DEL', old)
  redis.call('ZREM', KEYS[2], old)
end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
