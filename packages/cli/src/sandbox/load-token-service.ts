import type * as TokenService from '@tokenwell/token-service'
import { UserMistake } from '../user-mistake.ts'

/** Only when it is needed: it is several times as large as the rest of this command. */
export async function loadTokenService(): Promise<typeof TokenService> {
  try {
    return await import('@tokenwell/token-service')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes("'@tokenwell/token-service'")) throw error
    throw new UserMistake(
      'The sandbox needs @tokenwell/token-service beside @tokenwell/cli: run npm install @tokenwell/token-service, ' +
        'or npx -p @tokenwell/cli -p @tokenwell/token-service tokenwell sandbox.',
    )
  }
}
