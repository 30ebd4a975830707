/** A variable of the environment is missing or invalid. The message is one sentence that names it. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/**
 * Returns the variables of the services that the environment names; if it names none, starts them on this machine.
 *
 * @throws {SettingsError} if `SPEECH_URL` is missing or invalid
 */
export async function findPlatform(
  environment: NodeJS.ProcessEnv,
  pageOrigins: readonly string[] = [],
): Promise<{ environment: Readonly<Record<string, string | undefined>>; close(): Promise<void> }> {
  const { AUTH_URL, TOKEN_ENDPOINT, ISSUER, SPEECH_URL } = environment
  if (!AUTH_URL && !TOKEN_ENDPOINT && !ISSUER && !SPEECH_URL) {
    const { startLocalPlatform } = await import('./local-platform.ts')
    return startLocalPlatform(pageOrigins)
  }
  if (!SPEECH_URL) {
    const message = 'SPEECH_URL is missing. Set it, or unset AUTH_URL to start all services on this machine.'
    throw new SettingsError(message)
  }
  if (!/^https?:$/.test(URL.parse(SPEECH_URL)?.protocol ?? '')) {
    throw new SettingsError(
      'SPEECH_URL is not a valid URL. Include the scheme, as in https://service.example.com.',
    )
  }
  return {
    environment: { ...environment, SPEECH_URL: SPEECH_URL.replace(/\/+$/, '') },
    close: async () => {},
  }
}
