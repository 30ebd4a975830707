import type * as TokenService from '@tokenwell/token-service'
import { UsageError } from '../command-errors.ts'

/** Loaded on demand: it is several times as large as the rest of the command line. */
export async function loadTokenService(): Promise<typeof TokenService> {
  try {
    return await import('@tokenwell/token-service')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes("'@tokenwell/token-service'")) throw error
    throw new UsageError(
      'The sandbox requires @tokenwell/token-service. Run npm install @tokenwell/token-service, ' +
        'or npx -p tokenwell -p @tokenwell/token-service tokenwell sandbox.',
    )
  }
}
