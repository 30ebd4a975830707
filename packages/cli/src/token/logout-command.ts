import { Command } from 'commander'
import { type CommandContext, info } from '../output.ts'
import { UsageError } from '../command-errors.ts'
import { openTokenCache } from './token-cache.ts'

export function logoutCommand(context: CommandContext): Command {
  return new Command('logout')
    .description('Removes all your cached tokens from this machine, without revoking them.')
    .action(async () => {
      const { store } = openTokenCache(context)
      try {
        await store.clear()
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        throw new UsageError(`Could not remove the token cache ${store.folder} (${code}).`)
      }
      info(context, 'Removed all cached tokens.')
    })
}
