// Takes the lease of a key `rounds` times; fails if another process has it at the same time.
import { createFileTokenStore } from '@tokenwell/token-stores/file'
import { closeSync, openSync, unlinkSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

const [folder, key, rounds] = process.argv.slice(2)
const store = createFileTokenStore({ folder })
for (let round = 0; round < Number(rounds);) {
  const lease = await store.lease(key!, 60_000)
  if (lease) {
    const holder = `${folder}.holder`
    closeSync(openSync(holder, 'wx'))
    await setTimeout(1)
    unlinkSync(holder)
    await lease.write({ accessToken: `${process.pid}-${round++}`, tokenType: 'Bearer', scope: [] }, 60_000)
    await lease.release()
  }
  await setTimeout(1)
}
