// Takes the lease of a key and keeps it until it is killed.
import { createFileTokenStore } from '@tokenwell/token-stores/file'

const [folder, key, ttlMs] = process.argv.slice(2)
const lease = await createFileTokenStore({ folder }).lease(key!, Number(ttlMs))
process.send!(lease !== undefined)
setInterval(() => {}, 60_000)
