import { redisScript } from './redis-client.ts'

// Everything about a token is in one Redis hash: a script with several keys fails while a cluster moves their slot.
// The expiry of a field counts, not that of the key, which only removes old entries.

const prelude = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Other programs may have written any value: one of another type is replaced. Missing permissions are an error.
local function fields(...)
  local found = redis.pcall('HMGET', KEYS[1], ...)
  if not found.err then return found end
  if not string.find(found.err, 'WRONGTYPE', 1, true) then error(found.err, 0) end
  return nil
end

-- A lease that lasts longer than any was written by another program, or before the clock was set back.
local function holder(slot)
  local found = fields(slot)
  local id, expiry = string.match(found and found[1] or '', '^(.*)%.(%d+)$')
  local left = (tonumber(expiry) or 0) - now
  return left > 0 and left <= 60000 and id or nil
end

local function set(field, value, expiry)
  redis.call('HSET', KEYS[1], field, value)
  if redis.call('PTTL', KEYS[1]) < expiry - now then redis.call('PEXPIREAT', KEYS[1], expiry) end
end

local function setLease(slot, id, ttl)
  set(slot, id .. '.' .. string.format('%.0f', now + ttl), now + ttl)
end
`

/** Returns the time of Redis, and the token and cooldown entries; '' for values of other programs. */
export const readScript = redisScript(`${prelude}
local found = fields('token', 'cooldown') or { '', '' }
return { now, found[1], found[2] }
`)

/** ARGV the required beginning of the token entry. */
export const removeScript = redisScript(`${prelude}
local found = fields('token')
local token = found and found[1] or ''
if string.sub(token, 1, #ARGV[1]) ~= ARGV[1] then return 0 end
return redis.call('HDEL', KEYS[1], 'token')
`)

/**
 * ARGV slot, holder ID, TTL. Returns the time of Redis, or nothing while another holder has the lease. Succeeds again
 * for the same holder, as clients repeat commands after a failover.
 */
export const leaseScript = redisScript(`${prelude}
if not fields(ARGV[1]) then redis.call('PEXPIREAT', KEYS[1], 0) end
local current = holder(ARGV[1])
if current and current ~= ARGV[2] then return false end
setLease(ARGV[1], ARGV[2], tonumber(ARGV[3]))
return now
`)

/** ARGV slot, holder ID, TTL: 0 releases the lease. */
export const extendScript = redisScript(`${prelude}
if holder(ARGV[1]) ~= ARGV[2] then return 0 end
if ARGV[3] == '0' then return redis.call('HDEL', KEYS[1], ARGV[1]) end
setLease(ARGV[1], ARGV[2], tonumber(ARGV[3]))
return 1
`)

/**
 * ARGV slot, holder ID, time of the lease, kind of the entry, the entry, its expiry. Writes nothing if the clock was
 * set back since, or belongs to a slower new master: the lifetime would be too long.
 */
export const writeScript = redisScript(`${prelude}
if holder(ARGV[1]) ~= ARGV[2] then return 0 end
local expiry = tonumber(ARGV[6])
if now < tonumber(ARGV[3]) or now >= expiry then return 0 end
set(ARGV[4], ARGV[5], expiry)
if ARGV[4] == 'token' then redis.call('HDEL', KEYS[1], 'cooldown') end
return 1
`)
