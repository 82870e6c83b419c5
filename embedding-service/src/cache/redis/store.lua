redis.call('HSET', KEYS[1], unpack(ARGV, 5))
if ARGV[4] == '0' then redis.call('HDEL', KEYS[1], 'vec') end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if ARGV[4] == '0' then
  redis.call('ZREM', KEYS[2], KEYS[1])
else
  redis.call('ZADD', KEYS[2], ARGV[1], KEYS[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[1] - ARGV[2])
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - ARGV[3])
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
end
