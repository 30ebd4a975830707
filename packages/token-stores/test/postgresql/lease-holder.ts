// Takes the lease of a key and keeps it until it is killed.
import { createPostgresqlTokenStore } from '@tokenwell/token-stores/postgresql'
import { Pool } from 'pg'

const [connectionString, key, ttlMs] = process.argv.slice(2)
const store = createPostgresqlTokenStore({ client: new Pool({ connectionString }) })
process.send!((await store.lease(key!, Number(ttlMs))) !== undefined)
setInterval(() => {}, 60_000)
